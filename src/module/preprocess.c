#include "module/preprocess.h"

#include <string.h>

#include "base/c_locale.h"
#include "base/text.h"
#include "module/module.h"
#include "module/weights.h"

/* Channels red, green, blue of images from 0 to 1. */
static const struct {
  const char *name, *part;
} known[] = {
  /* torchvision's, and of most nets of PyTorch: mean and deviation of ImageNet's photos */
  {"imagenet", "normalize mean 0.485/0.456/0.406 std 0.229/0.224/0.225"},
  /* EfficientNet-Lite: (255 x - 127) / 128 */
  {"lite", "normalize mean 0.4980392156862745 std 0.5019607843137255"},
  /* -1 to 1, as many nets of TensorFlow */
  {"tensorflow", "normalize mean 0.5 std 0.5"},
  /* Caffe, and Keras' ResNet: 0 to 255, minus 123.68, 116.779, 103.939 */
  {"caffe", "normalize mean 0.48501960784313725/0.457956862745098/0.40760392156862746 std "
            "0.00392156862745098"},
};

enum { KNOWN = sizeof known / sizeof *known };

char *preprocess_words(void)
{
  struct text t = {0};
  for (size_t k = 0; k < KNOWN; k++) text_add(&t, "%s%s", k ? ", " : "", known[k].name);
  return text_take(&t);
}

static bool begins_with_normalize(const char *text)
{
  static const char name[] = "normalize";
  size_t n = sizeof name - 1;
  return !strncmp(text, name, n) && (!text[n] || strchr(" ,", text[n]));
}

static r4_status unknown(const char *where, const char *said, r4_error *e)
{
  char *words = preprocess_words();
  r4_status s = r4_fail(e, R4_E_ARGUMENT,
                        "%.200s is \"%.60s\", expected auto, none, %s, or normalize mean M/M/M std S/S/S",
                        where, said, words ? words : "");
  r4_string_free(words);
  return s;
}

/* A word or a part, as someone has said. */
static r4_status take(const char *where, const char *said, const char *by, struct preprocess *to, r4_error *e)
{
  const char *part = begins_with_normalize(said) ? said : NULL;
  size_t k = 0;
  *to = (struct preprocess){.by = by};
  if (!strcmp(said, "none")) return R4_OK;
  while (!part && k < KNOWN && strcmp(known[k].name, said)) k++;
  if (!part && k < KNOWN) {
    part = known[k].part;
    c_locale_print(to->name, sizeof to->name, "%s", said);
  }
  if (!part || strlen(part) >= sizeof to->part || strpbrk(part, ",;()")) return unknown(where, said, e);
  memcpy(to->part, part, strlen(part) + 1);
  return R4_OK;
}

/* The first part of the net that a model of r4 has in its metadata. */
static r4_status take_first(const char *path, const char *net, struct preprocess *to, r4_error *e)
{
  char part[PREPROCESS_PART] = "none";
  size_t n = strcspn(net, ",");
  if (begins_with_normalize(net) && n < sizeof part) {
    memcpy(part, net, n);
    part[n] = 0;
  }
  return take(path, part, "as in the model it starts from", to, e);
}

static r4_status ask_file(const char *path, bool *knows, struct preprocess *to, r4_error *e)
{
  struct st_set set = {0};
  r4_status s = weights_open(&set, path, e);
  if (s) return s;
  const struct st_file *first = set.files ? &set.file[0] : NULL;
  const char *said = first ? st_note(first, "preprocess") : NULL, *net = first ? st_note(first, "net") : NULL,
             *in_words = first ? st_note(first, "preprocessing") : NULL;
  bool of_others = net && st_note(first, "graph") && !begins_with_normalize(net);
  if (of_others) net = NULL; /* a graph does not say what was done before it */
  *knows = said || net || in_words;
  if (said)
    s = take(path, said, "as the weights say", to, e);
  else if (net)
    s = take_first(path, net, to, e);
  st_close(&set);
  return s;
}

r4_status preprocess_find(const r4_net *n, const char *path, const char *wanted, struct preprocess *to,
                          r4_error *e)
{
  bool has_it = n->row->part[0].kind == &module_normalize, knows = false;
  *to = (struct preprocess){0};
  if (strcmp(wanted, "auto")) {
    r4_status s = take("preprocess", wanted, "as preprocess says", to, e);
    if (s || !has_it || !*to->part) return s;
    return r4_fail(e, R4_E_ARGUMENT, "preprocess is %.60s, but the net begins with normalize already",
                   wanted);
  }
  if (has_it || !path || n->input.rank != 3) return R4_OK;
  r4_status s = ask_file(path, &knows, to, e);
  if (s || knows || !*n->expects) return s;
  return take("preprocess", n->expects, "usual for this net; the weights do not say", to, e);
}

/* ---- For programs ---- */

r4_net *r4_net_preprocessed(const r4_net *n, const char *path, const char *preprocess, r4_error *e)
{
  NEEDS(n, "a net", NULL);
  r4_error own = {0};
  struct preprocess found;
  if (!e) e = &own;
  r4_error_clear(e);
  if (preprocess_find(n, path, preprocess ? preprocess : "auto", &found, e)) return NULL;
  char *text = net_print_behind(n, found.part);
  r4_net *result = NULL;
  if (text)
    result = net_new(text, n->input, e);
  else
    r4_fail(e, R4_E_MEMORY, "net: out of memory");
  r4_string_free(text);
  return result;
}
