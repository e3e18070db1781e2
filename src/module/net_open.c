/* Nets by name: those that r4 brings along (nets/NAME.net), files of the user's, also of ONNX, "mlp784-512-10" (sizes
 * of the layers), and in brackets behind a name what is chosen of it: "resnet18(classes=6)". */
#include "module/net_open.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "module/onnx/onnx.h"
#include "module/weights.h"
#include "r4_tools.h"

enum { LARGEST_FILE = 1 << 20 };

/* ---- "784-512-10" as "dense 512, relu, dense 10" on [784] ---- */

static char *mlp_text(const char *name, r4_shape *input, r4_error *e)
{
  const char *s = name + strlen("mlp"), *end = name + strlen(name);
  struct text layers = {0};
  size_t sizes = 0;
  bool ok = true;
  *input = R4_SHAPE(0);
  for (; ok && (!sizes || s < end); sizes++) {
    int64_t size = 0;
    if (sizes) ok = *s++ == '-';
    ok = ok && number_parse(&s, end, 1, &size);
    if (!sizes)
      input->dim[0] = size;
    else if (ok)
      text_add(&layers, "%sdense %lld", sizes > 1 ? ", relu, " : "", (long long)size);
  }
  char *line = text_done(&layers, "a net", e);
  if (!line || (ok && sizes > 1)) return line;
  r4_fail(e, R4_E_ARGUMENT, "net \"%.60s\": needs two or more sizes, such as mlp784-512-10", name);
  r4_string_free(line);
  return NULL;
}

static r4_net *open_mlp(const char *name, r4_error *e)
{
  r4_shape input;
  char *text = mlp_text(name, &input, e);
  r4_net *n = text ? net_new(text, input, e) : NULL;
  r4_string_free(text);
  return n;
}

/* ---- What is chosen ---- */

static r4_status set_from_config(struct reader *r, const char *path, r4_error *e)
{
  struct js *root = NULL;
  uint8_t *data = NULL;
  size_t size;
  r4_status s = file_read(path, LARGEST_FILE, &data, &size, e);
  if (!s) s = js_parse(path, data, size, &root, e);
  if (!s && js_kind(root) != JS_OBJECT)
    s = r4_fail(e, R4_E_PARSE, "%s: expected { and the numbers of a net by their names", path);
  for (size_t k = 0; k < r->params && !s; k++) {
    const struct js *v = *r->param[k].key.s ? js_get(root, r->param[k].key.s) : NULL;
    struct text value = {0};
    int64_t whole;
    double real;
    if (!v) continue;
    if (js_whole(v, &whole))
      text_add(&value, "%lld", (long long)whole);
    else if (js_number(v, &real))
      text_add_real(&value, real);
    else
      text_add(&value, "%s", js_text(v) ? js_text(v) : "?");
    char *word = text_done(&value, "a net", e);
    s = word ? reader_set(r, r->param[k].name.s, word, e) : R4_E_MEMORY;
    r4_string_free(word);
  }
  js_free(root);
  r4_mem_free(data);
  return s;
}

/* "classes=6, config=DIR/config.json": one choice after the other. */
static r4_status choose(struct reader *r, char *list, r4_error *e)
{
  r4_status s = R4_OK;
  for (char *item = list; !s && item && *item;) {
    char *next = strchr(item, ',');
    if (next) *next++ = 0;
    item += strspn(item, " ");
    char *value = strchr(item, '='), *end = item + strlen(item);
    while (end > item && end[-1] == ' ') *--end = 0;
    if (!value || value == item)
      return r4_fail(e, R4_E_ARGUMENT, "net %.60s: \"%.60s\" is not understood, expected NAME=VALUE", r->name,
                     item);
    *value++ = 0;
    s = strcmp(item, "config") ? reader_set(r, item, value, e) : set_from_config(r, value, e);
    item = next;
  }
  return s;
}

/* ---- Architectures ---- */

/* Whether the first part takes an image as a vector. */
static bool begins_with_vector(struct reader r)
{
  struct word w;
  r4_error why;
  for (;;) {
    while (reader_takes(&r, '(')) {
    }
    if (reader_word(&r, &w, &why)) return false;
    if (reader_takes(&r, ':')) continue;
    if (!word_is(&w, "repeat")) break;
    if (reader_word(&r, &w, &why)) return false;
  }
  for (size_t k = 0; module_kind(k); k++)
    if (word_is(&w, module_kind(k)->name)) return module_kind(k)->takes_vector;
  return false;
}

static r4_shape taken_as(const struct reader *r, r4_shape example)
{
  return example.rank == 3 && begins_with_vector(*r) ? R4_SHAPE(r4_shape_count(example)) : example;
}

/* Smaller images would end in a single pixel, or in none, before the net has done its work. */
static r4_status check_size(const struct reader *r, r4_shape input, r4_error *e)
{
  if (input.rank != 3 || (input.dim[0] >= r->least && input.dim[1] >= r->least)) return R4_OK;
  return r4_fail(e, R4_E_SHAPE,
                 "net %.60s: images are %lld x %lld, needs %lld x %lld or more (data.size makes them larger)",
                 r->name, (long long)input.dim[0], (long long)input.dim[1], (long long)r->least,
                 (long long)r->least);
}

/* example: of the data, or rank 0 for the architecture's own. */
static r4_net *make(struct reader *r, char *choices, r4_shape example, r4_error *e)
{
  r4_status s = reader_head(r, e);
  if (!s) s = choose(r, choices, e);
  if (!s) s = reader_head(r, e); /* the input may depend on what was chosen */
  if (s) return NULL;
  bool own = !example.rank || (r->input.rank && !r->any_size);
  r4_shape input = own ? r->input : taken_as(r, example);
  if (input.rank) return check_size(r, input, e) ? NULL : net_make(r, input, e);
  r4_fail(e, R4_E_ARGUMENT, "net %.60s: does not state its input (no \"input\")", r->name);
  return NULL;
}

static const struct embedded *find(const char *name)
{
  for (size_t k = 0; k < architectures_count; k++)
    if (!strcmp(architectures[k].name, name)) return &architectures[k];
  return NULL;
}

static r4_net *open_file(const char *path, char *choices, r4_shape example, r4_error *e)
{
  struct reader r;
  uint8_t *data = NULL;
  size_t size;
  if (file_read(path, LARGEST_FILE, &data, &size, e)) return NULL;
  r4_net *n = NULL;
  if (memchr(data, 0, size)) {
    r4_fail(e, R4_E_PARSE, "%s: has a zero in it, expected the text of a net", path);
  } else {
    reader_open(&r, path, (const char *)data, size);
    r.expands = true;
    n = make(&r, choices, example, e);
  }
  r4_mem_free(data);
  return n;
}

/* What another program has written. */
static r4_net *open_onnx(const char *path, r4_shape example, r4_error *e)
{
  struct st_file f;
  r4_net *n = onnx_open(&f, path, example, e) ? NULL : weights_net(&f, e);
  st_free(&f);
  return n;
}

/* The end of a file's name, "NAME.net" or, with choices, "NAME.net(..)"; NULL if it is none. A name may have blanks,
 * commas and brackets in it. */
static const char *end_of_file_name(const char *net)
{
  static const char suffix[] = ".net";
  const char *last = net, *end = net + strlen(net);
  for (const char *s = net; (s = strstr(s, suffix)); s++) last = s;
  const char *behind = last + strlen(suffix);
  if (last == net || (behind < end && (*behind != '(' || end[-1] != ')'))) return NULL;
  return behind;
}

static r4_net *unknown(const char *name, r4_error *e)
{
  struct text known = {0};
  for (size_t k = 0; k < architectures_count; k++) text_add(&known, ", %s", architectures[k].name);
  char *names = text_take(&known);
  r4_fail(e, R4_E_ARGUMENT,
          "net \"%.60s\": no such name; expected mlpA-B-...%s, or a file NAME.net or NAME.onnx", name,
          names ? names : "");
  r4_string_free(names);
  return NULL;
}

/* name, with what is in brackets behind it in choices; both are changed. */
static r4_net *open_named(char *name, r4_shape example, r4_error *e)
{
  if (onnx_is_file(name)) return open_onnx(name, example, e);
  const char *file = end_of_file_name(name);
  char *choices = strchr(name + (file ? file - name : 0), '('), *end = name + strlen(name);
  if (choices && end[-1] == ')') {
    *choices++ = 0;
    end[-1] = 0;
  } else {
    choices = NULL;
  }
  if (file) return open_file(name, choices, example, e);
  if (!strncmp(name, "mlp", 3) && !choices) return open_mlp(name, e);
  const struct embedded *a = find(name);
  if (!a) return unknown(name, e);
  struct reader r;
  reader_open(&r, a->name, a->text, strlen(a->text));
  r.expands = true;
  return make(&r, choices, example, e);
}

static r4_net *open_copy(const char *name, r4_shape example, r4_error *e)
{
  char *own = mem_copy(name, e);
  r4_net *n = own ? open_named(own, example, e) : NULL;
  r4_string_free(own);
  return n;
}

bool net_is_file(const char *text)
{
  return (end_of_file_name(text) || onnx_is_file(text)) && !strpbrk(text, "#\r\n");
}

/* A name has no blanks before its brackets, and is not the name of a kind. */
static bool is_name(const char *text)
{
  if (net_is_file(text)) return true;
  size_t n = strcspn(text, " \t\r\n,:;(");
  if (text[n] && text[n] != '(') return false;
  for (size_t k = 0; module_kind(k); k++)
    if (strlen(module_kind(k)->name) == n && !strncmp(module_kind(k)->name, text, n)) return false;
  return n > 0 && !(n == 6 && !strncmp(text, "repeat", n));
}

r4_net *r4_net_open(const char *net, r4_shape example, r4_error *e)
{
  r4_error own = {0};
  if (!e) e = &own;
  NEEDS(net, "a net", NULL);
  r4_error_clear(e);
  if (is_name(net) || !example.rank) return open_copy(net, example, e);
  struct reader r;
  reader_open(&r, NULL, net, strlen(net));
  return reader_head(&r, e) ? NULL : net_make(&r, taken_as(&r, example), e);
}

/* ---- The table ---- */

size_t r4_architecture_count(void)
{
  return architectures_count;
}

const char *r4_architecture_name(size_t k)
{
  return k < architectures_count ? architectures[k].name : NULL;
}

const char *r4_architecture_text(const char *name)
{
  const struct embedded *a = name ? find(name) : NULL;
  return a ? a->text : NULL;
}
