#define _GNU_SOURCE
#include "CServer.h"

#include <sys/socket.h>

int cserver_accept(int listening) { return accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

/* Prefers HTTP/2, and otherwise accepts HTTP/1.1. A client that offers neither gets no protocol. */
static int select_protocol(SSL *ssl, const unsigned char **selected, unsigned char *length, const unsigned char *offered,
                           unsigned int offered_length, void *context) {
  static const unsigned char supported[] = "\x02h2\x08http/1.1";
  (void)ssl;
  (void)context;
  unsigned char *found = NULL;
  if (SSL_select_next_proto(&found, length, supported, sizeof supported - 1, offered, offered_length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *selected = found;
  return SSL_TLSEXT_ERR_OK;
}

SSL_CTX *cserver_context(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (context == NULL) return NULL;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context, select_protocol, NULL);
  return context;
}

bool cserver_add_to_chain(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add0_chain_cert(context, certificate) == 1;
}

size_t cserver_contents(BIO *memory, const char **bytes) {
  char *found = NULL;
  long length = BIO_get_mem_data(memory, &found);
  *bytes = found;
  return length > 0 ? (size_t)length : 0;
}

void cserver_empty(BIO *memory) { BIO_reset(memory); }

EVP_PKEY *cserver_make_key(void) { return EVP_EC_gen("P-256"); }

static int no_passphrase(char *buffer, int size, int writes, void *context) {
  (void)buffer;
  (void)size;
  (void)writes;
  (void)context;
  return -1;
}

EVP_PKEY *cserver_read_key(BIO *pem) { return PEM_read_bio_PrivateKey(pem, NULL, no_passphrase, NULL); }

bool cserver_extend(X509 *certificate, X509 *issuer, int nid, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
  if (extension == NULL) return false;
  int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return added == 1;
}
