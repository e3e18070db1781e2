/* r4 verify: what a specification of VNN-LIB says of a net. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json_out.h"

struct verify_settings {
  const char *net, *spec, *out;
  double seconds;
  bool json, force;
};

#define AT(field) offsetof(struct verify_settings, field)
static const struct option options[] = {
  {"NET.onnx", OPTION_WORD, AT(net), NULL, 0, 0, "the net: a file of ONNX, or a model of r4"},
  {"SPEC.vnnlib", OPTION_WORD, AT(spec), NULL, 0, 0, "boxes of inputs, linear constraints on outputs"},
  {"seconds", OPTION_REAL, AT(seconds), "60", 0, 1e9, "seconds to search, at most"},
  {"counterexample FILE", OPTION_TEXT, AT(out), NULL, 0, 0,
   "the file to write a counter-example to (default: it is printed)"},
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "overwrite the file"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "print JSON"},
  {0},
};

static const char *const verdict[] = {"unknown", "holds", "violated"}; /* by r4_verified */

static void print_point(FILE *f, const r4_verification *v)
{
  for (size_t k = 0; k < v->inputs; k++) fprintf(f, "%s(X_%zu %.17g)\n", k ? " " : "(", k, v->x[k]);
  for (size_t k = 0; k < v->outputs; k++)
    fprintf(f, " (Y_%zu %.17g)%s\n", k, v->y[k], k + 1 < v->outputs ? "" : ")");
}

static int write_point(const struct verify_settings *o, const r4_verification *v)
{
  if (v->is != R4_VERIFY_VIOLATED) return EXIT_DONE;
  if (!*o->out && !o->json) print_point(stdout, v);
  if (!*o->out) return EXIT_DONE;
  FILE *f = fopen(o->out, "w");
  if (f) print_point(f, v);
  bool failed = !f || ferror(f);
  if (f && fclose(f)) failed = true;
  if (!failed) return EXIT_DONE;
  char text[R4_ERROR_SIZE];
  snprintf(text, sizeof text, "%.300s: %s", o->out, strerror(errno));
  return cli_fail("verify", R4_E_IO, text);
}

static int print_json(const struct verify_settings *o, const r4_verification *v)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "net", o->net);
  r4_json_text(w, "specification", o->spec);
  r4_json_text(w, "verdict", verdict[v->is]);
  r4_json_whole(w, "subproblems", (int64_t)v->subproblems);
  r4_json_real(w, "seconds", v->seconds);
  if (v->x) r4_json_open(w, "x", '[');
  for (size_t k = 0; k < v->inputs && v->x; k++) r4_json_real(w, NULL, v->x[k]);
  if (v->x) r4_json_close(w, ']');
  if (v->x) r4_json_open(w, "y", '[');
  for (size_t k = 0; k < v->outputs && v->x; k++) r4_json_real(w, NULL, v->y[k]);
  if (v->x) r4_json_close(w, ']');
  r4_json_close(w, '}');
  return json_print(stdout, "verify", w);
}

static int verify(const struct verify_settings *o, const r4_model *m)
{
  r4_error e = {0};
  r4_verification v;
  r4_status s = r4_verify(m, o->spec, o->seconds, &v, &e);
  if (s) return cli_fail("verify", s, e.text);
  int code = EXIT_DONE;
  if (o->json)
    code = print_json(o, &v);
  else
    printf("%s\n", verdict[v.is]);
  if (!code) code = write_point(o, &v);
  if (!code && !o->json) fprintf(stderr, "r4 verify: %.1f s, %zu sub-domains proved\n", v.seconds, v.subproblems);
  if (!code && v.is != R4_VERIFY_HOLDS) code = EXIT_NO;
  r4_verification_free(&v);
  return code;
}

static bool exists(const char *path)
{
  FILE *f = *path ? fopen(path, "r") : NULL;
  if (f) fclose(f);
  return f;
}

static int run(int argc, char **argv)
{
  struct verify_settings o;
  r4_error e = {0};
  if (!options_read("verify", options, &o, argc, argv)) return EXIT_USAGE;
  if (!(o.seconds > 0)) {
    fprintf(stderr, "r4 verify: --seconds: expected a number above 0\n");
    return EXIT_USAGE;
  }
  if (exists(o.out) && !o.force) {
    fprintf(stderr, "r4 verify: %s exists; --force overwrites it\n", shown(o.out).text);
    return EXIT_USAGE;
  }
  r4_model *m = r4_model_open(o.net, NULL, &e);
  if (!m) return cli_fail("verify", e.status, e.text);
  int code = verify(&o, m);
  r4_model_free(m);
  return code;
}

const struct command command_verify = {
  .name = "verify",
  .summary = "prove what a VNN-LIB file says of a net in ONNX, or find a counter-example",
  .details = "Prints holds (exit code 0), violated, with a counter-example, or unknown, mostly if time was not enough "
             "(1). An attack\ncomes first, then linear bounds, then branch and bound; what holds is proved. If the net "
             "ends with a\nsoftmax, Y is what goes into it.",
  .options = options,
  .threads = THREADS_HERE,
  .run = run,
};
