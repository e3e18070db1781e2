/* Tokenizers from files: tokenizer.json of Hugging Face, or vocab.txt. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"
#include "text/tokenizer.h"

enum { FILE_MOST = 1 << 28 };

void tokenizer_free(struct tokenizer *t)
{
  if (!t) return;
  vocabulary_free(&t->vocabulary);
  vocabulary_free(&t->special);
  r4_mem_free(t);
}

int64_t tokenizer_size(const struct tokenizer *t)
{
  return (int64_t)t->vocabulary.size;
}

int32_t tokenizer_id(const struct tokenizer *t, const char *piece)
{
  return vocabulary_id(&t->vocabulary, piece);
}

const char *tokenizer_piece(const struct tokenizer *t, int32_t id)
{
  return id >= 0 && (size_t)id < t->vocabulary.size ? t->vocabulary.piece[id] : NULL;
}

/* A piece with an id that no other has. */
static r4_status add_piece(struct vocabulary *v, const char *piece, int32_t id, r4_error *e)
{
  const char *other = id >= 0 && (size_t)id < v->size ? v->piece[id] : NULL;
  if (other)
    return r4_fail(e, R4_E_PARSE, "\"%.40s\" and \"%.40s\" have the same id %d", other, piece, id);
  return vocabulary_add(v, piece, id, e);
}

/* Of the vocabulary as well: it has a name and an id. */
static r4_status add_special(struct tokenizer *t, const char *piece, int32_t id, r4_error *e)
{
  int32_t known = vocabulary_id(&t->vocabulary, piece);
  if (!*piece) return r4_fail(e, R4_E_PARSE, "a special token has no letters");
  if (known >= 0 && known != id)
    return r4_fail(e, R4_E_PARSE, "the added token %.40s has the id %d, in the vocabulary it has %d", piece, id,
                   known);
  t->special_first = !t->special.nodes || t->special_first == *piece ? *piece : 0;
  r4_status s = vocabulary_add(&t->special, piece, id, e);
  return s || known == id ? s : add_piece(&t->vocabulary, piece, id, e);
}

/* What does not depend on where it comes from. */
static r4_status finish(struct tokenizer *t, const char *prefix, const char *unknown, r4_error *e)
{
  t->inside = vocabulary_walk(&t->vocabulary, 0, prefix, strlen(prefix));
  t->unknown = vocabulary_id(&t->vocabulary, unknown);
  if (t->unknown < 0)
    return r4_fail(e, R4_E_PARSE, "has no piece %.40s, which stands for words that no other pieces make up",
                   unknown);
  tokenizer_prepare(t);
  return R4_OK;
}

/* ---- tokenizer.json ---- */

static r4_status expect_type(const struct js *root, const char *part, const char *expected, r4_error *e)
{
  const char *type = js_text(js_get(js_get(root, part), "type"));
  if (type && !strcmp(type, expected)) return R4_OK;
  return r4_fail(e, R4_E_PARSE, "its %s is %.40s, expected %s: only BERT's tokenizer is known", part,
                 type ? type : "missing", expected);
}

static r4_status read_flag(const struct js *object, const char *key, bool *to, r4_error *e)
{
  const struct js *value = js_get(object, key);
  if (js_kind(value) == JS_NULL || js_flag(value, to)) return R4_OK;
  return r4_fail(e, R4_E_PARSE, "%s is not true or false", key);
}

/* Accents are taken off when letters become lower case, unless stated otherwise. */
static r4_status read_normalizer(struct tokenizer *t, const struct js *n, r4_error *e)
{
  t->clean = t->cjk = t->lower = true;
  r4_status s = read_flag(n, "clean_text", &t->clean, e);
  if (!s) s = read_flag(n, "handle_chinese_chars", &t->cjk, e);
  if (!s) s = read_flag(n, "lowercase", &t->lower, e);
  t->accents_off = t->lower;
  return s ? s : read_flag(n, "strip_accents", &t->accents_off, e);
}

static r4_status read_pieces(struct vocabulary *v, const struct js *pieces, r4_error *e)
{
  r4_status s = R4_OK;
  if (js_kind(pieces) != JS_OBJECT) return r4_fail(e, R4_E_PARSE, "model: has no vocab, expected an object");
  for (const struct js *p = NULL; !s && (p = js_next(pieces, p));) {
    int64_t id;
    if (!js_whole(p, &id) || id < 0 || id >= VOCABULARY_MOST)
      s = r4_fail(e, R4_E_PARSE, "the id of \"%.40s\" is not a whole number from 0 to %d", js_key(p),
                  VOCABULARY_MOST - 1);
    else
      s = add_piece(v, js_key(p), (int32_t)id, e);
  }
  return s;
}

/* Those that are looked for in the text as it is. */
static r4_status read_special(struct tokenizer *t, const struct js *list, r4_error *e)
{
  static const char *const refused[] = {"normalized", "single_word", "lstrip", "rstrip"};
  r4_status s = R4_OK;
  for (const struct js *a = NULL; list && !s && (a = js_next(list, a));) {
    const char *piece = js_text(js_get(a, "content"));
    int64_t id;
    if (!piece || !js_whole(js_get(a, "id"), &id) || id < 0 || id >= VOCABULARY_MOST)
      return r4_fail(e, R4_E_PARSE, "an added token has no content, or no id from 0 to %d",
                     VOCABULARY_MOST - 1);
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
      bool flag = false;
      js_flag(js_get(a, refused[k]), &flag);
      if (flag)
        return r4_fail(e, R4_E_PARSE, "the added token %.40s is %s, which is not known", piece, refused[k]);
    }
    s = add_special(t, piece, (int32_t)id, e);
  }
  return s;
}

static r4_status read_json(struct tokenizer *t, const struct js *root, r4_error *e)
{
  const struct js *model = js_get(root, "model");
  const char *prefix = js_text(js_get(model, "continuing_subword_prefix"));
  const char *unknown = js_text(js_get(model, "unk_token"));
  const struct js *most = js_get(model, "max_input_chars_per_word");
  int64_t word_most = 100;
  r4_status s = expect_type(root, "model", "WordPiece", e);
  if (!s) s = expect_type(root, "normalizer", "BertNormalizer", e);
  if (!s) s = expect_type(root, "pre_tokenizer", "BertPreTokenizer", e);
  if (!s && most && (!js_whole(most, &word_most) || word_most < 1 || word_most > WORD_CHARACTERS))
    s =
      r4_fail(e, R4_E_PARSE, "max_input_chars_per_word is not a whole number from 1 to %d", WORD_CHARACTERS);
  t->word_most = (size_t)word_most;
  if (!s) s = read_normalizer(t, js_get(root, "normalizer"), e);
  if (!s) s = read_pieces(&t->vocabulary, js_get(model, "vocab"), e);
  if (!s && js_kind(js_get(root, "added_tokens")) == JS_LIST)
    s = read_special(t, js_get(root, "added_tokens"), e);
  return s ? s : finish(t, prefix ? prefix : "##", unknown ? unknown : "[UNK]", e);
}

/* ---- vocab.txt ---- */

/* "do_lower_case" of the file beside. */
static r4_status read_config(struct tokenizer *t, const char *vocabulary, r4_error *e)
{
  const char *slash = strrchr(vocabulary, '/');
  struct text name = {0};
  text_add(&name, "%.*stokenizer_config.json", slash ? (int)(slash + 1 - vocabulary) : 0, vocabulary);
  char *path = text_done(&name, "a path", e);
  uint8_t *bytes = NULL;
  size_t size = 0;
  struct js *root = NULL;
  if (!path) return R4_E_MEMORY;
  r4_status s = file_exists(path) ? file_read(path, FILE_MOST, &bytes, &size, e) : R4_OK;
  if (!s && bytes) s = js_parse(path, bytes, size, &root, e);
  if (!s && root) s = read_flag(root, "do_lower_case", &t->lower, e);
  js_free(root);
  r4_mem_free(bytes);
  r4_mem_free(path);
  return s;
}

/* A piece in each line; its number is the id. */
static r4_status read_lines(struct tokenizer *t, char *lines, size_t size, r4_error *e)
{
  r4_status s = R4_OK;
  char *line = lines, *end = lines + size;
  if (strlen(lines) != size) return r4_fail(e, R4_E_PARSE, "has a zero byte at %zu", strlen(lines));
  for (int32_t id = 0; !s && line < end; id++) {
    char *after = memchr(line, '\n', (size_t)(end - line)), *last = after ? after : end;
    after = after ? after + 1 : end;
    while (last > line && strchr(" \t\r\n", last[-1])) last--;
    *last = 0;
    if (!utf8_valid(line)) return r4_fail(e, R4_E_PARSE, "line %d is not UTF-8", id + 1);
    int32_t before = *line ? vocabulary_id(&t->vocabulary, line) : -1;
    if (before >= 0)
      return r4_fail(e, R4_E_PARSE, "line %d: the piece \"%.40s\" is in line %d already", id + 1, line, before + 1);
    s = vocabulary_add(&t->vocabulary, line, id, e);
    line = after;
  }
  return s;
}

static r4_status read_vocabulary(struct tokenizer *t, const char *path, char *lines, size_t size, r4_error *e)
{
  static const char *const special[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  t->clean = t->cjk = t->lower = true;
  t->word_most = 100;
  r4_status s = read_config(t, path, e);
  t->accents_off = t->lower;
  if (!s) s = read_lines(t, lines, size, e);
  for (size_t k = 0; !s && k < sizeof special / sizeof *special; k++) {
    int32_t id = vocabulary_id(&t->vocabulary, special[k]);
    if (id >= 0) s = add_special(t, special[k], id, e);
  }
  return s ? s : finish(t, "##", "[UNK]", e);
}

/* ---- Opening ---- */

/* JSON begins with a brace; no vocabulary does, whose first piece is [PAD], or another in brackets. */
static r4_status read_bytes(struct tokenizer *t, const char *path, uint8_t *bytes, size_t size, r4_error *e)
{
  size_t mark = utf8_mark(bytes, size);
  bytes += mark;
  size -= mark;
  if (!size || bytes[0] != '{') return read_vocabulary(t, path, (char *)bytes, size, e);
  struct js *root;
  r4_status s = js_parse(path, bytes, size, &root, e);
  if (!s) s = read_json(t, root, e);
  js_free(root);
  return s;
}

r4_status tokenizer_parse(struct tokenizer **made, const char *path, uint8_t *bytes, size_t size, r4_error *e)
{
  r4_error inner = {0};
  struct tokenizer *t = r4_mem_new(1, sizeof *t);
  r4_status s = t ? read_bytes(t, path, bytes, size, &inner) : R4_E_MEMORY;
  if (!t) r4_fail(&inner, s, "out of memory for a tokenizer");
  *made = s ? NULL : t;
  if (!s) return R4_OK;
  tokenizer_free(t);
  bool named = !strncmp(inner.text, path, strlen(path));
  return r4_fail(e, s, "%s%s%s", named ? "" : path, named ? "" : ": ", inner.text);
}

/* tokenizer.json or vocab.txt in the folder; NULL, and an error, if it has neither. */
static char *file_in(const char *folder, r4_error *e)
{
  static const char *const name[] = {"tokenizer.json", "vocab.txt"};
  for (size_t k = 0; k < sizeof name / sizeof *name; k++)
    if (file_exists_in(folder, name[k])) return file_join(folder, name[k], NULL);
  r4_fail(e, R4_E_IO, "%s: has neither tokenizer.json nor vocab.txt", folder);
  return NULL;
}

struct tokenizer *tokenizer_open(const char *path, r4_error *e)
{
  struct tokenizer *t = NULL;
  uint8_t *bytes = NULL;
  size_t size = 0;
  char *within = file_is_folder(path) ? file_in(path, e) : NULL;
  const char *file = within ? within : path;
  if (!file_is_folder(file) && !file_read(file, FILE_MOST, &bytes, &size, e))
    tokenizer_parse(&t, file, bytes, size, e);
  r4_mem_free(bytes);
  r4_mem_free(within);
  return t;
}
