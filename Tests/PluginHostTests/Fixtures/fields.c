/* Reads and writes fields of every kind of diff2.All, by path. */
#include "minimal.h"
#include <math.h>

#define T RPCURL_TEXT
#define IS(one, literal) rpcurl_text_equal(one, RPCURL_TEXT(literal))
#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) host->log(host, RPCURL_LOG_ERROR, RPCURL_TEXT("FAIL " #condition)); \
  } while (0)

static rpcurl_token token;

static void fail(const char *what, const char *path) {
  char line[200];
  snprintf(line, sizeof(line), "FAIL %s %s", what, path);
  host->log(host, RPCURL_LOG_ERROR, text(line));
}

static int is_same(const rpcurl_value *one, const rpcurl_value *other) {
  if (one->type != other->type) return 0;
  switch (one->type) {
    case RPCURL_TYPE_BOOL: return one->as.boolean == other->as.boolean;
    case RPCURL_TYPE_INT64: return one->as.int64 == other->as.int64;
    case RPCURL_TYPE_UINT64: return one->as.uint64 == other->as.uint64;
    case RPCURL_TYPE_DOUBLE: return one->as.float64 == other->as.float64;
    case RPCURL_TYPE_ENUM: return one->as.number == other->as.number;
    default: return rpcurl_text_equal(one->as.text, other->as.text);
  }
}

/* A singular field: its default, a value, and cleared again. */
static void singular(const char *path, rpcurl_value value, rpcurl_value missing) {
  rpcurl_value got = {0};
  if (host->has(host, token, text(path)) != 0) fail("set", path);
  if (host->get(host, token, text(path), &got) != 0 || !is_same(&got, &missing)) fail("default", path);
  if (host->set(host, token, text(path), &value) != 0) fail("set", path);
  if (host->has(host, token, text(path)) != 1) fail("has", path);
  if (host->get(host, token, text(path), &got) != 0 || !is_same(&got, &value)) fail("get", path);
  if (host->clear(host, token, text(path)) != 0 || host->has(host, token, text(path)) != 0) fail("clear", path);
}

/* A list: two elements, the second changed, the first removed. */
static void list(const char *path, rpcurl_value first, rpcurl_value second) {
  char element[100];
  rpcurl_value got = {0};
  snprintf(element, sizeof(element), "%s[1]", path);
  if (host->length(host, token, text(path)) != 0) fail("empty", path);
  if (host->append(host, token, text(path), &first) != 0) fail("append", path);
  if (host->append(host, token, text(path), &first) != 0) fail("append", path);
  if (host->set(host, token, text(element), &second) != 0) fail("set", element);
  if (host->get(host, token, text(element), &got) != 0 || !is_same(&got, &second)) fail("get", element);
  element[strlen(element) - 2] = '0';
  if (host->clear(host, token, text(element)) != 0 || host->length(host, token, text(path)) != 1) fail("remove", path);
  if (host->get(host, token, text(element), &got) != 0 || !is_same(&got, &second)) fail("moved", element);
  if (host->clear(host, token, text(path)) != 0 || host->length(host, token, text(path)) != 0) fail("clear", path);
}

static rpcurl_value integer(int64_t number) { return (rpcurl_value){RPCURL_TYPE_INT64, 0, {.int64 = number}}; }
static rpcurl_value natural(uint64_t number) { return (rpcurl_value){RPCURL_TYPE_UINT64, 0, {.uint64 = number}}; }
static rpcurl_value real(double number) { return (rpcurl_value){RPCURL_TYPE_DOUBLE, 0, {.float64 = number}}; }
static rpcurl_value boolean(int value) { return (rpcurl_value){RPCURL_TYPE_BOOL, 0, {.boolean = value}}; }
static rpcurl_value enumeration(int32_t value) { return (rpcurl_value){RPCURL_TYPE_ENUM, 0, {.number = value}}; }
static rpcurl_value string(const char *value) { return (rpcurl_value){RPCURL_TYPE_STRING, 0, {.text = text(value)}}; }
static rpcurl_value bytes(const char *value, size_t size) {
  return (rpcurl_value){RPCURL_TYPE_BYTES, 0, {.text = {value, size}}};
}

static void scalars(void) {
  singular("f_double", real(-1.5), real(0));
  singular("f_float", real(0.5), real(0));
  singular("f_int64", integer(INT64_MIN), integer(0));
  singular("f_uint64", natural(UINT64_MAX), natural(0));
  singular("f_int32", integer(INT32_MIN), integer(0));
  singular("f_fixed64", natural(UINT64_MAX), natural(0));
  singular("f_fixed32", natural(UINT32_MAX), natural(0));
  singular("f_bool", boolean(1), boolean(0));
  singular("f_string", string("\xc3\xa9"), string(""));
  singular("f_bytes", bytes("\0\xff", 2), bytes("", 0));
  singular("f_uint32", natural(UINT32_MAX), natural(0));
  singular("f_enum", enumeration(-3), enumeration(1));
  singular("f_sfixed32", integer(INT32_MIN), integer(0));
  singular("f_sfixed64", integer(INT64_MAX), integer(0));
  singular("f_sint32", integer(-1), integer(0));
  singular("f_sint64", integer(INT64_MIN), integer(0));
  /* Defaults of the schema, and other names. */
  singular("d_int32", integer(1), integer(-7));
  singular("d_string", string("x"), string("a\"\n\xc3\xa9"));
  singular("d_bytes", bytes("x", 1), bytes("\0\xffx", 3));
  singular("d_double", real(1), real(-INFINITY));
  singular("d_enum", enumeration(1), enumeration(-3));
  singular("d_bool", boolean(0), boolean(1));
  singular("camelCase", integer(1), integer(0));
  singular("large_number", integer(1), integer(0));
  /* Within messages and groups, which are created. */
  singular("f_message.f_message.f_int32", integer(5), integer(0));
  singular("fgroup.inner", integer(5), integer(0));
  singular("fgroup.all.fgroup.inner", integer(5), integer(0));
  /* Extensions, also within extensions. */
  singular("[diff2.x_int32]", integer(5), integer(0));
  singular("[diff2.x_enum]", enumeration(2), enumeration(1));
  singular("[diff2.x_double]", real(2.5), real(0));
  singular("[diff2.x_bytes]", bytes("x", 1), bytes("", 0));
  singular("[diff2.All.x_nested].f_string", string("x"), string(""));
  singular("[diff2.xgroup].flag", boolean(1), boolean(0));
}

static void lists(void) {
  list("r_double", real(1), real(2));
  list("r_float", real(1), real(2));
  list("r_int64", integer(1), integer(2));
  list("r_uint64", natural(1), natural(2));
  list("r_int32", integer(1), integer(2));
  list("r_fixed64", natural(1), natural(2));
  list("r_fixed32", natural(1), natural(2));
  list("r_bool", boolean(1), boolean(0));
  list("r_string", string("a"), string("b"));
  list("r_bytes", bytes("a", 1), bytes("b", 1));
  list("r_uint32", natural(1), natural(2));
  list("r_enum", enumeration(1), enumeration(2));
  list("r_sfixed32", integer(1), integer(2));
  list("r_sfixed64", integer(1), integer(2));
  list("r_sint32", integer(1), integer(2));
  list("r_sint64", integer(1), integer(2));
  list("p_double", real(1), real(2));
  list("p_enum", enumeration(1), enumeration(2));
  list("[diff2.x_strings]", string("a"), string("b"));
  list("[diff2.x_packed]", integer(1), integer(2));
  rpcurl_value value = integer(-4);
  CHECK(host->append_json(host, token, T("r_message"), T("{\"fInt32\": 1}")) == 0);
  CHECK(host->append_json(host, token, T("rgroup"), T("{\"id\": 2}")) == 0);
  CHECK(host->append_json(host, token, T("fgroup.deep"), T("{\"text\": \"t\"}")) == 0);
  CHECK(host->append_json(host, token, T("r_int32"), T("3")) == 0);
  CHECK(host->append_json(host, token, T("r_enum"), T("\"HIGH\"")) == 0);
  CHECK(host->set(host, token, T("r_message[0].r_message"), &value) < 0);
  CHECK(host->set(host, token, T("rgroup[0].id"), &value) == 0);
  CHECK(host->get(host, token, T("rgroup[0].id"), &value) == 0 && value.as.int64 == -4);
  CHECK(host->length(host, token, T("fgroup.deep")) == 1 && host->length(host, token, T("r_message")) == 1);
}

static void ranges(void) {
  rpcurl_value value = integer(INT64_C(1) << 40);
  CHECK(host->set(host, token, T("f_int32"), &value) == RPCURL_ERANGE);
  CHECK(host->set(host, token, T("f_uint32"), &value) == RPCURL_ERANGE);
  CHECK(host->set(host, token, T("f_fixed32"), &value) == RPCURL_ERANGE);
  value = integer(-1);
  CHECK(host->set(host, token, T("f_uint64"), &value) == RPCURL_ERANGE);
  value = natural(7);
  CHECK(host->set(host, token, T("f_int32"), &value) == 0);
  value = string("7");
  CHECK(host->set(host, token, T("f_int32"), &value) == RPCURL_ETYPE);
  value = bytes("\xff", 1);
  value.type = RPCURL_TYPE_STRING;
  CHECK(host->set(host, token, T("f_string"), &value) == RPCURL_EINVAL);
  CHECK(host->get(host, token, T("nothing"), &value) == RPCURL_EPATH);
  CHECK(host->get(host, token, T("[diff2.nothing]"), &value) == RPCURL_EPATH);
  CHECK(host->get(host, token, T("f_message"), &value) == RPCURL_ETYPE);
  CHECK(host->get(host, token, T("f_int32.x"), &value) == RPCURL_EPATH);
}

static void maps(void) {
  rpcurl_value value, key;
  CHECK(host->set_enum(host, token, T("m_closed[\"b\"]"), T("ON")) == 0);
  CHECK(host->set_enum(host, token, T("m_closed[\"a \\\"q\\\"\"]"), T("OFF")) == 0);
  value = integer(9);
  CHECK(host->set(host, token, T("m_message[-5].f_int32"), &value) == 0);
  CHECK(host->set(host, token, T("m_message[3].f_int32"), &value) == 0);
  value = string("yes");
  CHECK(host->set(host, token, T("m_bool[true]"), &value) == 0);
  CHECK(host->length(host, token, T("m_closed")) == 2 && host->length(host, token, T("m_message")) == 2);
  CHECK(host->key_at(host, token, T("m_closed"), 0, &key) == 0 && key.type == RPCURL_TYPE_STRING);
  CHECK(IS(key.as.text, "a \"q\""));
  CHECK(host->key_at(host, token, T("m_message"), 0, &key) == 0 && key.type == RPCURL_TYPE_INT64);
  CHECK(key.as.int64 == -5);
  CHECK(host->key_at(host, token, T("m_bool"), 0, &key) == 0 && key.type == RPCURL_TYPE_BOOL && key.as.boolean == 1);
  CHECK(host->has(host, token, T("m_bool[false]")) == 0 && host->has(host, token, T("m_bool[true]")) == 1);
  CHECK(host->clear(host, token, T("m_message[-5]")) == 0 && host->length(host, token, T("m_message")) == 1);
  CHECK(host->key_at(host, token, T("f_message.m_closed"), 0, &key) == RPCURL_ENOENT);
}

static void oneofs(void) {
  rpcurl_value value = integer(1);
  rpcurl_text name;
  CHECK(host->which(host, token, T("choice"), &name) == RPCURL_ENOENT);
  CHECK(host->set(host, token, T("o_int32"), &value) == 0);
  CHECK(host->which(host, token, T("choice"), &name) == 0 && IS(name, "o_int32"));
  CHECK(host->set_enum(host, token, T("o_enum"), T("TOP")) == 0);
  CHECK(host->which(host, token, T("choice"), &name) == 0 && IS(name, "o_enum"));
  CHECK(host->has(host, token, T("o_int32")) == 0);
  CHECK(host->get_enum(host, token, T("o_enum"), &name) == 0 && (IS(name, "HIGH") || IS(name, "TOP")));
  value = bytes("r", 1);
  CHECK(host->set(host, token, T("ogroup.raw"), &value) == 0);
  CHECK(host->which(host, token, T("choice"), &name) == 0 && IS(name, "ogroup"));
  CHECK(host->which(host, token, T("f_message.choice"), &name) == RPCURL_ENOENT);
  CHECK(host->get_enum(host, token, T("d_enum"), &name) == 0 && IS(name, "NEGATIVE"));
}

static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token given) {
  (void)state, (void)call;
  token = given;
  scalars();
  lists();
  ranges();
  maps();
  oneofs();
  host->log(host, RPCURL_LOG_INFO, T("done"));
  return RPCURL_OK;
}

static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "fields", .load = keep_host,
                                     .request_message = request_message};
RPCURL_PLUGIN(plugin)
