/**
 * Signatures and certificates made with the openssl command (3.0.19), in base64. The private keys were not kept.
 *
 *   openssl req -x509 -new -key K -subj /CN=… -days 36500 -outform DER       a certificate
 *   openssl dgst -sha256 -sign K message                                     a signature
 *   openssl x509 -req -in leaf.csr -CA root.pem -CAkey root.key -extfile …   a certificate from a root
 */

/** The message that every signature here covers. */
export const MESSAGE = 'measurement spec';

export const CERTIFICATES = {
  p256:
    'MIIBLzCB1qADAgECAgEBMAoGCCqGSM49BAMCMA8xDTALBgNVBAMMBHAyNTYwIBcNMjYxMTE1MDMxMzMwWhgPMjEyNjEwMjIw' +
    'MzEzMzBaMA8xDTALBgNVBAMMBHAyNTYwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQXGT0MqR4m7uM/XpwIldFD/1WDkVgm' +
    'DunjDPiN9rV5tM5zIHqT/VuuIbnhUQhjNtHU7o9RzJDfxo2XiVqanS8royEwHzAdBgNVHQ4EFgQUPB81qAVXG2uowYdT5Rzi' +
    '1lENxNQwCgYIKoZIzj0EAwIDSAAwRQIgEXGiFSP18tSyg9KlKRpb+z5KdzwkSqcjU02p+9/F/qoCIQDSzpnBQHhpi67cHUOr' +
    '6jMW9Q2pf3EQh28Ls1XZSmqEhw==',
  p384:
    'MIIBbDCB86ADAgECAgEBMAoGCCqGSM49BAMCMA8xDTALBgNVBAMMBHAzODQwIBcNMjYxMTE1MDMxMzMwWhgPMjEyNjEwMjIw' +
    'MzEzMzBaMA8xDTALBgNVBAMMBHAzODQwdjAQBgcqhkjOPQIBBgUrgQQAIgNiAAThqgJjYFusrtPVjFHb215np1YiRqBmVqmz' +
    'j/+FHtTv33fHxdBM2P24DHRhF5YClX9hDX2wkPI63UCmnO6rzpL7ughMwyvHBfEL3c79PVw5P81XiE4wKN3+gdHiIyL3tByj' +
    'ITAfMB0GA1UdDgQWBBS8Z8xpTxe2Bi7j6I6vLnsaUUy05DAKBggqhkjOPQQDAgNoADBlAjEAnhPKyV8VwIJeN4i2LuulzfNN' +
    'kwm0QslIL+RcPeSQnvPt46j63tcjpbYxWlaLApEAAjA73i7a8c2q15G/4vtyRobiQF1CyIHVMJhUwvz/DcSxuEtUDLioUwqy' +
    'nB4G+Vj8pfI=',
  p521:
    'MIIBuDCCARmgAwIBAgIBATAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARwNTIxMCAXDTI2MTExNTAzMTMzMFoYDzIxMjYxMDIy' +
    'MDMxMzMwWjAPMQ0wCwYDVQQDDARwNTIxMIGbMBAGByqGSM49AgEGBSuBBAAjA4GGAAQBmlIrkotBTDgDHntoY7+1jn8oNM77' +
    'SwkNO5yz9jlR/ejf7NW9v0dFkkMpTzmE4CdgB/1zvdJMhtZ/3Va35aYomk8AnGM6k9N/DJZyivs/9UL4/v7+P2CD7Bq55HKL' +
    'meNnSF+HsqI1VAH2/BzwY9T2q89zS7vApDmZQ/29zW50ighkd5GjITAfMB0GA1UdDgQWBBQ4UK2hbnxAhFTZIT39wXPqlgSV' +
    'YDAKBggqhkjOPQQDAgOBjAAwgYgCQgDe3BBzKUxaya979Q4yEvAccszTMdX0VxL9PcHqWWox3q90z3FJE2JEjaUFrvT99zsL' +
    'kLIsaIcn5hxCftYb1D6OmQJCAPdirh7Azif4TbU16vyNgABCPtRiNvkSYiApUTzk9eO9VA5etcgnHEEcIBqhtJdlMZFyr1+p' +
    'wnJ0tk+kQEyMqeNe',
  rsa:
    'MIICujCCAaKgAwIBAgIBATANBgkqhkiG9w0BAQsFADAOMQwwCgYDVQQDDANyc2EwIBcNMjYxMTE1MDMxMzMxWhgPMjEyNjEw' +
    'MjIwMzEzMzFaMA4xDDAKBgNVBAMMA3JzYTCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBANEqvpm3eFvdHLQhWoqG' +
    'LR0ZBOe4w5JOcROMUSM5INXerc1mV+TCYRQhPhvQmH6sur6zh5eJFJKm20SEFbvNCpNwgyqBkQMBJ80trcae844CPqtiSqZa' +
    'Y8Nn5mjSyQ8F326RJzyRY0sVlmoc47ZLgyGhzrcU2AH5m6BSUr+nBscGTHzm2TxuKQLPsrf+lfqaKaPVjFPyegeJRfmr0wJ8' +
    'jjbyugSaEiKRexJW/PlZBuCXkfssd2ZsQOdAxOZKnOH/GI0cdhdxq9gkglzj+n3wLdV74hXs564QzegFKwUqld6Cv2PLmQa5' +
    'fcJLxatHZnlNfePSzdjituh0nfxr0nAiJLkCAwEAAaMhMB8wHQYDVR0OBBYEFAlVRGqo0O8z3hLy6p9bbNwGWdCiMA0GCSqG' +
    'SIb3DQEBCwUAA4IBAQCx8bXMAQo9ix7oVJbpbvyl1PoQNewiCa1VXGjTCNYl4jdW1X0VxTrzo3vrsUaf6lkQo5EgMpq8qDNQ' +
    'DeCgBqlXdD4aQEMd600Nk/8qr6snoGL3nyDhTSsSZzDVBV0iRAXmVuxH9FjRNtj2zW01lSACdSiWfEMz/VD5U2SRFgavXelM' +
    '0Po0k9JgElhJQCP4r0pPze0lTEfWgiGIaqi53V4LgYWi2JVSjpebK/go+E3WPkLzU8eCECAQuOhhXrNl4QkdLR/8j6qtwW9L' +
    'Drx18/8I14Rwa1dXxeLGAO33c19zQDtx0eVv5AcYa6Dxmk6Hll0yxCD3pCwH4azPv2kVEZvF',
};

/** Each row: the certificate's key type, the algorithm name, the signature. */
export const SIGNATURES: [keyof typeof CERTIFICATES, string, string][] = [
  [
    'p256',
    'ECDSA_P256_SHA256',
    'MEUCIQCkzFCHzNW7yRdp/fdPBnJZ9M5+KH6wWJzlyUvAdkxxvAIgIiX6nejwynvG3W7q/eiwZ5eGEwQm8NH/ZLm8fYiLVuc=',
  ],
  [
    'p384',
    'ECDSA_P384_SHA384',
    'MGYCMQCsbll7HtnVpGXQlBhMrlPXf16gbDXw0C359z+YSWNr2eXOrzhtZgG72hVT+t7uFkkCMQDRvnwgZQyfqjxOtWQnDrOl' +
      '7s9iF8ittr67m/NggOlYVwcM2oO2AcfG4NmodPdc/KE=',
  ],
  [
    'p521',
    'ECDSA_P521_SHA512',
    'MIGIAkIBFx0E5s3a5akteiZOy8FIfTDb2UVv89BPq1n8HkRoX3/op0qCAPlqYBcM6UIvMlLOg4eOxLVYQCiaqYemeRPgURIC' +
      'QgFAnBUvJoxI7BZa1l587tUVhsj4xhvZz8UPEbFlZl/G4UPNJ+fq63byMdP7WVXLgVSkbPbcLSqhOamoqM4zTC5Cqw==',
  ],
  [
    'rsa',
    'RSA_PKCS1_SHA256',
    'CImp85xyyvgKWbk1cncJj/+ZyGoXmreO2lyoOef5T5KwG5wPek9d2lvls4pRQLjNFLaxlfQvyApEsbwSI3Np930vJ87ZL2EJ' +
      '52twVc+ZlGnjZ64BrvBRFFly5ZQnIn7fqOr6IB18Wjy/vgy22VLzsFHshHnYiEjoDq+//I+6jOfVWLe441CgG348+SDjnR9S' +
      'hrM/c9jYZ9qWPrUVPTrhXfxKXcqmcfgQhQ5SisPTVPCGzp9AUtJtyw1iRISCC8DxIPpD4cGeVz0/1Y/cqix7u0pun4N7y5E3' +
      'ODAoBiTqE07v2mXKlmTnezbQY5rTaBznSdF+0YgRjcfQL2N5CPOLdg==',
  ],
  [
    'rsa',
    'RSA_PKCS1_SHA384',
    'Dre196Hc4UXaTMQWTUIOvmcQNDPK1iactAa477vX43KNVGVK9cl5CDQo+6j4MmQU+3B/qY9YDzTbsxy9sg4KE0AIWegDHtx8' +
      'IVc2N0TPxeefpYSgxYO7esV2JP1w5chbNinpLO03FmHrB936+eBCENyU+m9fHQzGZLrlRJ1eI2nYJ7bJnKyjp6NXCnDn6X6z' +
      '6S+Bc/keIREhEkc5XmAsmExJGy/CfMDjUcCmgDcUiADloV0UbRIOn5ySMHvj70pIdCGHtlm2MuRBSXi6xm7Kntvw0KoHWT4+' +
      'PgIoXulZDzRVjm0kW5zIcKmltAHXqa2EBGW8GxOdroietPO5bZCdkA==',
  ],
  [
    'rsa',
    'RSA_PKCS1_SHA512',
    'i8UD0zUaG4R7V1Lcxw5QmuvfhqIdLvl/Gzy+HSlgX12+5Luzm7SPcHZVwtWtxvvLalalkkkcNFBwe99xvcU4AUPpvE8BQiuB' +
      'xP/KOUEQHHtIjaGKpIEV6NEjELhVVBw3vxf+9qG9jkLjsgumHFIHcyQsIP8obdVg7kdGCVAbEbUJQgO4q9/G3MfBrspW2ZEX' +
      'TPj55mHvbNWj3D1YGPLYy9VsFyG1Womt016oSl65Defr00SrSD6bG//tFQr6KSEX64zRBI6angVe+iLy0TiFCLwotR9K7CU8' +
      'YEW78TZg6SQppJtsdMTBk3HysdePIgyTTvdqf+GD+ZZW+qTqeFbOIg==',
  ],
];

/** A root certificate and a certificate that it issued. */
export const ROOT =
  'MIIBdDCCARugAwIBAgIBATAKBggqhkjOPQQDAjAhMRAwDgYDVQQKDAdWZWN0b3JzMQ0wCwYDVQQDDARyb290MCAXDTI2MTEx' +
  'NTAzMTMzMVoYDzIxMjYxMDIyMDMxMzMxWjAhMRAwDgYDVQQKDAdWZWN0b3JzMQ0wCwYDVQQDDARyb290MFkwEwYHKoZIzj0C' +
  'AQYIKoZIzj0DAQcDQgAEFBRv8ae2YJXjogv/5bHVBJqT5m3GNcNFHywEii4LCI2ezamJx0oBC73Sf3OTLGfFmkBLRRjySBzy' +
  'P+WZU4aAp6NCMEAwHQYDVR0OBBYEFCM3u0IJw5Mk83YSlOXgsRpwkApnMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQD' +
  'AgEGMAoGCCqGSM49BAMCA0cAMEQCIFQcy9pdi2SCkIhKdm9HkSd098RxCC30j011uPZzsnVYAiBjQQq7XFopadcb654NbVgI' +
  'kMnULSUTK2qvG/yhAAn41w==';
export const LEAF =
  'MIIBlDCCATmgAwIBAgIBAjAKBggqhkjOPQQDAjAhMRAwDgYDVQQKDAdWZWN0b3JzMQ0wCwYDVQQDDARyb290MCAXDTI2MTEx' +
  'NTAzMTMzMVoYDzIxMjYxMDIyMDMxMzMxWjAhMRAwDgYDVQQKDAdWZWN0b3JzMQ0wCwYDVQQDDARsZWFmMFkwEwYHKoZIzj0C' +
  'AQYIKoZIzj0DAQcDQgAEX5dp1GBP3MxhR5wWrSqNuD+48Q4hioJ22pZzZAFjEFq5cPzbzbDdngjkFMx8O5c/nESTA79o585a' +
  'FiRWOWXLJ6NgMF4wHQYDVR0OBBYEFFFgvPmyOB5pu2x26URXDlg5bk/qMB8GA1UdIwQYMBaAFCM3u0IJw5Mk83YSlOXgsRpw' +
  'kApnMAwGA1UdEwEB/wQCMAAwDgYDVR0PAQH/BAQDAgeAMAoGCCqGSM49BAMCA0kAMEYCIQD7zb0FHyfNNdnop7zMTFS19+V7' +
  'wdeesy/ZYqi4IP22CAIhAIcgu7FUDrZ72DRdemVDe5JD8En/tYhO6ReYpO/Ti6WL';
