/**
 * Keys and certificates made with the openssl command (3.0.22), in DER, as base64. They serve tests only.
 *
 *   openssl ecparam -name prime256v1 -genkey -noout                          a key in SEC 1
 *   openssl pkcs8 -topk8 -nocrypt -in K -outform DER                         the same key in PKCS #8
 *   openssl rsa -in K -traditional -outform DER                              a key in PKCS #1
 *   openssl x509 -req -in leaf.csr -CA root.pem -CAkey root.key -extfile …   a certificate from the root
 */
export const OPENSSL = {
  root:
    'MIIBjjCCATWgAwIBAgIUOWaL310bCdue9TlAwUYYlXy0jU4wCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJQWNtZSByb290MCAXDTI2' +
    'MTExNjAzNDQzMVoYDzIxMjYxMDIzMDM0NDMxWjAUMRIwEAYDVQQDDAlBY21lIHJvb3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC' +
    'AAQpNGX/qaGbRs5qyhYGUjOyvhOhg3lWqhl0djpfSqeHaR9IG5YqqjwID0Zoe3Xc2qWT092ipMzWzNTIcxeDEPnRo2MwYTAdBgNV' +
    'HQ4EFgQUWseD7GSkVZQAwLgsFcewFClxT4owHwYDVR0jBBgwFoAUWseD7GSkVZQAwLgsFcewFClxT4owDwYDVR0TAQH/BAUwAwEB' +
    '/zAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZIzj0EAwIDRwAwRAIgNTAsJWa2iQ2wy6lbzkgAuK8OkoNsqSmEIX0v++5adk0CIH0S+m8c' +
    'UkJNiU2SJJPJi38aaQNzhSod142CWbjClC/p',
  ecCertificate:
    'MIIBhzCCAS2gAwIBAgIUX4e1Xwm0Hr32gc/HaFfdpdMpgXQwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJQWNtZSByb290MCAXDTI2' +
    'MTExNjAzNDQzMVoYDzIxMjYxMDIzMDM0NDMxWjAPMQ0wCwYDVQQDDARBY21lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEFXj4' +
    '15B2hCruz9PMO4m1pxw5THbK7kJ22TXR/bvhCPz/ReSJ7CEmFBNyQ8htThe2lfiPkYxV90+0sKBP0LR82aNgMF4wDAYDVR0TAQH/' +
    'BAIwADAOBgNVHQ8BAf8EBAMCB4AwHQYDVR0OBBYEFNp5X22TvoAoRM//19QT2MedngAeMB8GA1UdIwQYMBaAFFrHg+xkpFWUAMC4' +
    'LBXHsBQpcU+KMAoGCCqGSM49BAMCA0gAMEUCIQC6Js42kkWiIVWjHQ8ajDJZWgEDiwOkLW/U3DTj2scNoAIgWALwplTsbteQ17NV' +
    'KERq6u84WVqNl/vZpYsjGl7RPK4=',
  ecSec1:
    'MHcCAQEEIKG8XyCjf9NGhi4PmL20IQDtfub3PPdDp4ZQoVHKBKXtoAoGCCqGSM49AwEHoUQDQgAEFXj415B2hCruz9PMO4m1pxw5' +
    'THbK7kJ22TXR/bvhCPz/ReSJ7CEmFBNyQ8htThe2lfiPkYxV90+0sKBP0LR82Q==',
  ecPkcs8:
    'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgobxfIKN/00aGLg+YvbQhAO1+5vc890OnhlChUcoEpe2hRANCAAQV' +
    'ePjXkHaEKu7P08w7ibWnHDlMdsruQnbZNdH9u+EI/P9F5InsISYUE3JDyG1OF7aV+I+RjFX3T7SwoE/QtHzZ',
  rsaCertificate:
    'MIICVjCCAfygAwIBAgIUQSMz0FdYCCgM0b5FfMjsvIg9320wCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJQWNtZSByb290MCAXDTI2' +
    'MTExNjAzNDQzNVoYDzIxMjYxMDIzMDM0NDM1WjATMREwDwYDVQQDDAhBY21lIFJTQTCCASIwDQYJKoZIhvcNAQEBBQADggEPADCC' +
    'AQoCggEBALCBcWMmts0XMQLYqvHsUA9Mebkv8W5AFhYXa88NJOEMN1k/N7LBWDO6jWvbQNhCNNNs6hZS8GYIGWVMwkJrdkDezetf' +
    'i/bcPCYe2mZiBFKuzPN+6rV2+Iku22ntnk2naFbRdwUVFKLZjoSbK/NKF9mq8EmtCdkuBDpk/ixZKs1ADb6OejyzMPR3W8ofJUgx' +
    'CmhyR+nNM+3kjll72qzcmN+JoQi7NCTJE1xlgbxdrIsIGOxfHnF02NAAFrjOi68wIZbEed5O8UunzfX6IXyR3Md0G2N63Im13mn+' +
    '9CXbaH3tkasHCQd8Aqhp9msbCOkO28xXXBLINS+n9gmfVOrDuecCAwEAAaNgMF4wDAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMC' +
    'B4AwHQYDVR0OBBYEFPeMKF9QDnnmIdWBhGTR+O7NGyBIMB8GA1UdIwQYMBaAFFrHg+xkpFWUAMC4LBXHsBQpcU+KMAoGCCqGSM49' +
    'BAMCA0gAMEUCIQCr9TjIjc8UM3vWc/2927kAVQZvXEEoll9XT3sgiJaOZgIgFGlDctm1VNMCHciTPQcd8Erj0UekAIvTsf+4Z11f' +
    'OdA=',
  rsaPkcs1:
    'MIIEowIBAAKCAQEAsIFxYya2zRcxAtiq8exQD0x5uS/xbkAWFhdrzw0k4Qw3WT83ssFYM7qNa9tA2EI002zqFlLwZggZZUzCQmt2' +
    'QN7N61+L9tw8Jh7aZmIEUq7M837qtXb4iS7bae2eTadoVtF3BRUUotmOhJsr80oX2arwSa0J2S4EOmT+LFkqzUANvo56PLMw9Hdb' +
    'yh8lSDEKaHJH6c0z7eSOWXvarNyY34mhCLs0JMkTXGWBvF2siwgY7F8ecXTY0AAWuM6LrzAhlsR53k7xS6fN9fohfJHcx3QbY3rc' +
    'ibXeaf70Jdtofe2RqwcJB3wCqGn2axsI6Q7bzFdcEsg1L6f2CZ9U6sO55wIDAQABAoIBAAPvMWIBPr7jPvOYynVaYU3N/xfv0npf' +
    'fFPhZsT2k+AI/9eB72cRJJBWnrNiROztIN9Q71uFssJwzhwcx2cSnSVaB2Nb6F3yz8vBEU40mMhntBLTZ+jumMtPW5MIub1yYgLZ' +
    'aBqZZdyGwUSsbsuIAcXCJ9lZ6D0f56E47L97/KvBhwXexdGBmTWOGTimVcw8zZJidw/jNHLWF758BbBj5jDdQEWworIEGN3evjNh' +
    'nNX4I+w/oq/KGHmGNpKC7d2l5Fm5OafrGUnc/YXqIYyX9LRg0fGedsrWDA1bOZGCOv6Mzg/VpStPeZIGHFLK8XYexiswawN86152' +
    'dSlzLNrzi50CgYEA9G7/IPWpFcp8lMbqZUUVTsHipwcpfUdWxCmd2MRDYfzsRdWB8WrmNL4QPBHpFhjgjPlHn3//7IHkxwvwPKZw' +
    '2udFWR6oI/3WH7/Lfob+NQTCvEgtxRLZ2eW6UsOBsSEBqbhk4cuwH+T+gdby91TKI/cZyKAt7GgTeeqifyeq+AsCgYEAuNuV1DC9' +
    'Zlhk5Yx/pWvE0SSzLsySEml5gYkTzkGxngcTRT8oBPSv7H9iMs41WHRC9jlw/2i32T23wbCE3nTijvtke6UlNACxVshHNMA27dQC' +
    'IYx+pHPhFw0GhSiOQl5jSPMBivvHSr2iXLvF42u/BBHjb8XpuTBnxrPxa4OHwxUCgYEA4xNWmnT9jovcro4YZNoH0HGYMNkbdxHW' +
    'DkgnJqA1hQtlJ/8QR4mqsOa8yEFPS0LzIKPYINnVlA6bzTpPBNkO0J23M/Kh+0WuLTKNRk78S57PlgBr3MAFeELNlGOh0T67f8MY' +
    'nRcP2KFwuohIkPLJEx5Uaqg74XpSVZlfOkdMsj8CgYAMoBKvl1SYNNlPRDVDmwSqNBN40sf3MfT2f+I2aA41eM48IIAfNob9ZAXU' +
    '6niCPg6Euo+ZIhHMaIawV9n7R4hhs5G9UB4mWxXBk5QpaidWPvCWUf4kRTXOWTlkxsxQhBnL1az5TRDjbeg05S4yxh0Zrg8WhzHb' +
    'UA8GZyvJ6AXRsQKBgEi5cVIhiIxyJayWuWY16PZ8VVj2fQMLfUHARSEwh//vp1OP/Rgo1zjcO9+0cQcVfHL91+oyTveGy6Wuy0AI' +
    'c9o554Byd6LB6zLMyg8a+MGLkU+l7Sw5Ym/euZIct1iOoFEpq14SmdmmlTMxgWVKOgsodiWNzJ8dUJPNyhq550K3',
};

export const der = (name: keyof typeof OPENSSL) => Buffer.from(OPENSSL[name], 'base64');

export function pem(name: keyof typeof OPENSSL, label: string): string {
  const lines = OPENSSL[name].match(/.{1,64}/g)!.join('\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
