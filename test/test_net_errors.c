/* Texts that are no nets: each is an error that says where it is and what was expected. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "module/net.h"
#include "scratch.h"

static const r4_shape vector = {1, {4}}, image = {3, {8, 8, 3}};

struct wrong {
  const char *text;
  r4_status status;
  const char *message; /* part of it */
};

static const struct wrong on_images[] = {
  {"residual(conv 3 3 p1, flatten", R4_E_PARSE, "net: column 30: expected , or ; or )"},
  {"(conv 3 3, (relu, flatten)", R4_E_PARSE, "net: column 27: expected , or )"},
  {"relu, flatten)", R4_E_PARSE, "net: column 14: unexpected \")\", expected a comma or the end"},
  {"relu; flatten", R4_E_PARSE, "net: column 5: unexpected \";\""},
  {"residual conv 3 3", R4_E_PARSE, "\"conv\" is not understood; write residual(PARTS)"},
  {"residual, flatten", R4_E_PARSE, "net: column 9: expected ( and the parts of residual"},
  {"residual(), flatten", R4_E_PARSE, "part 0.0.0 \"\": expected a part; there are dense, conv"},
  {"residual(relu;), flatten", R4_E_PARSE, "part 0.1.0 \"\": expected a part"},
  {"residual(relu; relu; relu), flatten", R4_E_PARSE, "net: column 21: residual has at most 2 branches"},
  {"sum(relu;relu;relu;relu;relu;relu;relu;relu;relu)", R4_E_PARSE, "sum has at most 8 branches"},
  {": relu, flatten", R4_E_PARSE, "net: column 1: expected a name before the colon"},
  {".: relu, flatten", R4_E_PARSE, "expected a name before the colon"},
  {"a b: relu", R4_E_PARSE, "layer 1 \"a b: relu\": no such layer"},
  {"relu, a\"b: relu", R4_E_PARSE, "net: column 7: a name is made of letters, digits, _, - and dots"},
  {"\xc3\xa9: relu", R4_E_PARSE, "a name is made of letters"},
  {"\x01: relu", R4_E_PARSE, "a name is made of letters"},
  {"a: b: relu", R4_E_PARSE, "no such layer"},
  {"repeat 0 relu", R4_E_PARSE, "net: column 1: \"0\" is not understood; write repeat N"},
  {"repeat x relu", R4_E_PARSE, "\"x\" is not understood; write repeat N"},
  {"repeat -1 relu", R4_E_PARSE, "\"-1\" is not understood"},
  {"repeat", R4_E_PARSE, "\"\" is not understood; write repeat N"},
  {"repeat 3", R4_E_PARSE, "layer 1 \"\": expected a part"},
  {"repeat 2 repeat 2 relu", R4_E_PARSE, "layer 1 \"repeat 2 relu\": no such layer"},
  {"repeat 1000000000 relu", R4_E_SHAPE, "a net of more than 4096 parts"},
  {"repeat 99999999999 relu", R4_E_PARSE, "\"99999999999\" is not understood"},
  {"repeat 999 (repeat 999 (repeat 999 (relu)))", R4_E_SHAPE, "a net of more than 4096 parts"},
  {"repeat 99 residual(repeat 99 (residual(relu)))", R4_E_SHAPE, "a net of more than 4096 parts"},
  {"flatten, dense 1000000000, dense 1000000000", R4_E_SHAPE, "weight [1000000000,1000000000] is too large"},
  {"conv 30 1, conv 1 1000000000 p1000000000", R4_E_SHAPE,
   "weight [1,1000000000,1000000000,30] is too large"},
  {"flatten, dense 1000000000*1000000000", R4_E_PARSE, "is not understood"},
  {"flatten, dense 3*", R4_E_PARSE, "\"3*\" is not understood"},
  {"conv $n 3", R4_E_PARSE, "net: column 7: $n has no value here"},
  {"$kind", R4_E_PARSE, "net: column 2: $kind has no value here"},
  {"relu, $", R4_E_PARSE, "$ has no value here"},
  {"conv 4 3 g2, flatten", R4_E_SHAPE,
   "layer 1 \"conv 4 3 g2\": gets 3 channels and makes 4, needs both to be multiples"},
  {"conv 3 3 p1/", R4_E_PARSE, "\"p1/\" is not understood"},
  {"conv 3 3 p1 same", R4_E_PARSE, "\"same\" is not understood"},
  {"maxpool 2 p2", R4_E_ARGUMENT, "padding is 2, needs to be at most half of the window of 2"},
  {"subsample 2", R4_E_SHAPE, "gets 3 channels, needs to give as many or more, not 2"},
  {"batchnorm eps", R4_E_PARSE, "eps is \"\", expected a number above 0"},
  {"batchnorm eps 0", R4_E_PARSE, "eps is \"0\", expected a number above 0"},
  {"batchnorm eps -1", R4_E_PARSE, "eps is \"-1\", expected a number above 0"},
  {"batchnorm eps nan", R4_E_PARSE, "eps is \"nan\""},
  {"batchnorm eps inf", R4_E_PARSE, "eps is \"inf\""},
  {"batchnorm eps 1e999", R4_E_PARSE, "eps is \"1e999\""},
  {"batchnorm eps 1 eps 1", R4_E_PARSE, "\"eps\" is not understood"},
  {"dropout 1", R4_E_PARSE, "P is \"1\", expected a number from 0 to below 1"},
  {"dropout", R4_E_PARSE, "a number is missing; write dropout P"},
  {"flatten, dense {classes}", R4_E_PARSE,
   "{classes} is not a number; write dense N [nobias] ({classes} and {words} are for settings)"},
  {"residual(conv 4 3 p1), flatten", R4_E_SHAPE,
   "layer 1 \"residual(conv 4 3 p1)\": its first branch gives [8,8,4], its input gives [8,8,3]: needs the "
   "same"},
  {"x: (y: residual(conv 4 3 p1; conv 5 3 p1)), flatten", R4_E_SHAPE,
   "part x.y \"y: residual(conv 4 3 p1; conv 5 3 p1)\": its first branch gives [8,8,4], another gives "
   "[8,8,5]"},
  {"flatten, residual(dense 192), dense 2", R4_E_SHAPE, "one gives an image, flattened: needs it from both"},
  {"sum(flatten; flatten, dense 192)", R4_E_SHAPE, "one gives an image, flattened: needs it from both"},
  {"leaf, relu, leaf, flatten", R4_E_ARGUMENT, "net: has more than one leaf"},
  {"residual(relu, leaf), flatten", R4_E_ARGUMENT, "the leaf is in a branch"},
  {"sum(relu; sum(leaf)), flatten", R4_E_ARGUMENT, "the leaf is in a branch"},
  {"repeat 2 leaf, flatten", R4_E_ARGUMENT, "net: has more than one leaf"},
  {"layernorm", R4_E_SHAPE, "gets an image [8,8,3], needs a vector; put flatten before it"},
  {"embedding 3 3", R4_E_SHAPE, "gets [8,8,3], needs token ids [tokens]"},
  {"attention 1", R4_E_SHAPE, "gets an image [8,8,3], needs tokens [tokens,width]"},
  {"((((((((((((((((((((((((((relu))))))))))))))))))))))))))", R4_E_PARSE, "more than 24 deep"},
};

static const struct wrong on_vectors[] = {
  {"a: dense 3, a: dense 3", R4_E_PARSE,
   "column 13: part a \"a: dense 3\": there is a parameter \"a.weight\" already"},
  {"x: (a: dense 3), x.a: dense 3", R4_E_PARSE, "there is a parameter \"x.a.weight\" already"},
  {"1: dense 3, dense 3", R4_E_PARSE, "layer 2 \"dense 3\": there is a parameter \"1.weight\" already"},
  {"residual(a: dense 4), residual(a: dense 4)", R4_E_PARSE, "there is a parameter \"a.weight\" already"},
  {"embedding 3 5, attention 2, first", R4_E_SHAPE,
   "gets tokens of width 5, needs a multiple of its 2 heads"},
  {"position 3 2, first", R4_E_SHAPE, "gets 4 tokens, has 3 positions"},
  {"embedding 3 4, attention 2", R4_E_SHAPE, "the last layer gives tokens [4,4], needs a vector of classes"},
  {"first", R4_E_SHAPE, "gets a vector [4], needs tokens"},
};

static const struct wrong definitions[] = {
  {"def a() { a() } a()", R4_E_PARSE,
   "column 11: part 0.0 \"a()\": the definition of a must be used with brackets, and only after it"},
  {"def a() { b() } def b() { relu } a()", R4_E_PARSE, "part 0.0 \"b()\": the definition of b must be used"},
  {"def a() { relu } a", R4_E_PARSE, "the definition of a must be used with brackets"},
  {"def a(n) { dense $n } a(1, 2)", R4_E_PARSE, "net: column 24: a takes 1 value, not 2"},
  {"def a(n, m) { dense $n } a()", R4_E_PARSE, "a takes 2 values, not 0"},
  {"def a(n) { dense $n } a(;)", R4_E_PARSE, "net: column 25: expected a value or )"},
  {"def a(n) { dense $n } dense $n", R4_E_PARSE, "$n has no value here"},
  {"def a(n) { dense $n } def b(m) { a($n) } b(2)", R4_E_PARSE, "$n has no value here"},
  {"def a() { relu } def a() { relu } a()", R4_E_PARSE, "net: column 22: a is defined twice"},
  {"def a( { relu }", R4_E_PARSE, "net: column 8: expected the name of an argument, or )"},
  {"def a { relu }", R4_E_PARSE, "expected def NAME(ARGUMENTS) { PARTS }"},
  {"def a() relu", R4_E_PARSE, "net: column 9: expected { and what a stands for"},
  {"def a() { relu", R4_E_PARSE, "net: column 8: the { of a has no }"},
  {"def a() { { relu } } a()", R4_E_PARSE, "the { of a has no }"},
  {"def a() { relu, } a()", R4_E_PARSE, "part 0.1 \"\": expected a part"},
  {"def a() { relu) } a()", R4_E_PARSE, "expected a comma, or } after the parts of a"},
  {"def a(a, b, c, d, e, f, g) { relu } a()", R4_E_PARSE, "more than 6 arguments"},
  {"def a() { relu }", R4_E_PARSE, "layer 1 \"\": expected a part"},
  {"param x\nrelu", R4_E_PARSE, "expected param NAME VALUE"},
  {"param x 1 y z\nrelu", R4_E_PARSE, "expected param NAME VALUE"},
  {"input 3 3\nrelu", R4_E_PARSE, "expected input and one or three numbers"},
  {"input 0\nrelu", R4_E_PARSE, "expected input and one or three numbers"},
  {"input any\nrelu", R4_E_PARSE, "expected input and one or three numbers"},
  {"input 1 2 3 4\nrelu", R4_E_PARSE, "expected input and one or three numbers"},
};

static void check_all(const struct wrong *wrong, size_t n, r4_shape input)
{
  for (size_t k = 0; k < n; k++) {
    r4_error e;
    r4_mem_fail_at(0);
    r4_net *net = net_new(wrong[k].text, input, &e);
    if (net) fail_msg("\"%s\" is accepted, expected: %s", wrong[k].text, wrong[k].message);
    if (r4_mem_count() > 20000) fail_msg("\"%s\": %ld allocations", wrong[k].text, r4_mem_count());
    if (e.status != wrong[k].status || !strstr(e.text, wrong[k].message))
      fail_msg("\"%s\": %s: %s\nexpected %s", wrong[k].text, r4_status_name(e.status), e.text,
               wrong[k].message);
  }
}
#define CHECK(list, input) check_all(list, sizeof list / sizeof *list, input)

static void test_images(void **state)
{
  (void)state;
  CHECK(on_images, image);
}

static void test_vectors(void **state)
{
  (void)state;
  CHECK(on_vectors, vector);
}

static void test_definitions(void **state)
{
  (void)state;
  CHECK(definitions, vector);
}

/* Limits are errors too. */
static void test_limits(void **state)
{
  (void)state;
  char text[1000];
  size_t used = 0;
  r4_error e;
  for (int k = 0; k < 17; k++)
    used += (size_t)snprintf(text + used, sizeof text - used, "def d%d() { relu }\n", k);
  snprintf(text + used, sizeof text - used, "d0()");
  assert_null(net_new(text, vector, &e));
  assert_error(&e, R4_E_PARSE, "more than 16 definitions");
  used = 0;
  for (int k = 0; k < 25; k++) used += (size_t)snprintf(text + used, sizeof text - used, "param p%d 1\n", k);
  snprintf(text + used, sizeof text - used, "relu");
  assert_null(net_new(text, vector, &e));
  assert_error(&e, R4_E_PARSE, "more than 24 parameters");
  memset(text, 'a', 97);
  snprintf(text + 97, sizeof text - 97, ": dense 2");
  assert_null(net_new(text, vector, &e));
  assert_error(&e, R4_E_PARSE, "a word of more than 96 characters");
  assert_null(net_new(text + 1, vector, &e));
  assert_error(&e, R4_E_PARSE, "the name of a part has more than 95 characters");
  r4_net *n = net_new(text + 2, vector, &e);
  assert_non_null(n);
  r4_net_free(n);
}

/* ---- Graphs that fail within a net ---- */

/* A result that is too large for a batch; what comes behind it has nothing to look at. */
static void test_failed_graph(void **state)
{
  (void)state;
  static const char *const kinds[] = {"layernorm", "batchnorm", "dropout 0.5", "relu, residual(dense 5; dense 5)"};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (int learning = 0; learning < 2; learning++) {
      char text[100];
      const char *why;
      r4_id param[16];
      r4_graph *g = r4_graph_new();
      snprintf(text, sizeof text, "dense 1000000000, %s, dense 2", kinds[k]);
      r4_net *n = net_new(text, R4_SHAPE(4), NULL);
      assert_true(g && n && r4_net_params(n) <= 16);
      r4_net_inputs(n, g, param);
      const r4_objective_options o = {.method = "erm", .batch = 4096};
      if (learning)
        r4_objective_build(g, n, param, &o);
      else
        r4_net_apply(n, g, param, r4_input(g, "x", R4_SHAPE(4096, 4)));
      assert_int_equal(r4_graph_status(g, &why), R4_E_SHAPE);
      assert_non_null(strstr(why, "matmul"));
      r4_net_free(n);
      r4_graph_free(g);
    }
}

static r4_status build_bounds(const r4_net *n)
{
  r4_id param[32], slope;
  r4_graph *g = r4_graph_new();
  if (!g) return R4_E_MEMORY;
  r4_net_inputs(n, g, param);
  r4_id x = r4_input(g, "x", R4_SHAPE(2, 6)), low = r4_input(g, "low", R4_SHAPE(2, 6));
  r4_id z = r4_net_apply(n, g, param, x);
  r4_box box = r4_box_between(x, low, r4_input(g, "high", R4_SHAPE(2, 6)));
  r4_grad(g, r4_sum(g, r4_bound(g, r4_softmax(g, z), 1, &box).hi, R4_ALL), 1, &low, &slope);
  r4_status s = r4_graph_status(g, NULL);
  r4_graph_free(g);
  return s;
}

/* An operation may also fail in the middle of a part, or of a rule. */
static void test_memory(void **state)
{
  (void)state;
  r4_net *n = net_new("layernorm, dense 3, batchnorm, dense 4", R4_SHAPE(6), NULL);
  assert_true(n && r4_net_params(n) <= 32);
  r4_status s = R4_E_MEMORY;
  for (long k = 1; s; k++) {
    r4_mem_fail_at(k);
    s = build_bounds(n);
    r4_mem_fail_at(0);
    assert_true(s == R4_OK || s == R4_E_MEMORY);
  }
  r4_net_free(n);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_images), cmocka_unit_test(test_vectors),
                                     cmocka_unit_test(test_definitions), cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_failed_graph), cmocka_unit_test(test_memory)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("errors of nets", tests, NULL, NULL);
}
