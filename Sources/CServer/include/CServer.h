/* nghttp2, OpenSSL and epoll for Swift: their headers, and functions for what Swift cannot call, macros and variadic functions. */
#ifndef CSERVER_H
#define CSERVER_H

#include <nghttp2/nghttp2.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

/* The events of epoll, which are of another type in each C library. */
static const uint32_t cserver_reading = EPOLLIN, cserver_writing = EPOLLOUT, cserver_broken = EPOLLERR | EPOLLHUP;

/* Accepts a connection: a socket that does not block and that programs do not inherit, or -1 and errno. */
int cserver_accept(int listening);

/* A context for servers: TLS 1.2 and newer, ciphers that HTTP/2 permits, no renegotiation, no session cache. NULL if there
 * is no memory. */
SSL_CTX *cserver_context(void);

/* Adds a certificate to the chain that is sent. The context owns it then. */
bool cserver_add_to_chain(SSL_CTX *context, X509 *certificate);

/* The bytes that a BIO in memory contains. Valid until the next operation on it. */
size_t cserver_contents(BIO *memory, const char **bytes);

/* Removes what a BIO in memory contains. */
void cserver_empty(BIO *memory);

/* Makes a key on the curve P-256; NULL if that fails. */
EVP_PKEY *cserver_make_key(void);

/* Reads a private key without asking for a passphrase on the terminal: NULL if it is encrypted. */
EVP_PKEY *cserver_read_key(BIO *pem);

/* Adds an extension in OpenSSL's notation for configuration files. */
bool cserver_extend(X509 *certificate, X509 *issuer, int nid, const char *value);

#endif
