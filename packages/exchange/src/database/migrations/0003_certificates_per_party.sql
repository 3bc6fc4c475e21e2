-- A certificate is unique within its party: nobody can register another party's first and keep it out.

DROP INDEX certificates_der;
CREATE UNIQUE INDEX certificates_der ON certificates (party, sha256(x509_der));
