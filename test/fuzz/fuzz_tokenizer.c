/* The tokenizer. A first byte of 'v': the rest is a vocabulary, as a file has it. Otherwise the rest is a text: its
 * tokens are pieces, in order, and of whole characters of the text; or it is not UTF-8, and the error says where. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

static struct tokenizer *parse(const void *bytes, size_t size, r4_error *e)
{
  uint8_t *copy = r4_mem_new(size + 1, 1);
  struct tokenizer *t;
  memcpy(copy, bytes, size);
  r4_status s = tokenizer_parse(&t, "vocabulary", copy, size, e);
  require((s == R4_OK) == (t != NULL) && (!s || e->text[0]));
  r4_mem_free(copy);
  return t;
}

static int starts(const char *text, size_t size, size_t at)
{
  return at == size || ((unsigned char)text[at] & 0xc0) != 0x80;
}

static void use(const struct tokenizer *t, const char *text, size_t size)
{
  struct tokens to = {0};
  r4_error e = {0};
  uint32_t before = 0;
  r4_status s = tokenize(t, text, size, &to, &e);
  require(!s || (s == R4_E_PARSE && strstr(e.text, "is not UTF-8")));
  for (size_t k = 0; k < to.n; k++) {
    const struct token *token = to.token + k;
    require(tokenizer_piece(t, token->id) != NULL);
    require(token->from >= before && token->from < token->to && token->to <= size);
    require(starts(text, size, token->from) && starts(text, size, token->to));
    before = token->from; /* those of one character share its bytes */
  }
  tokens_free(&to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char pieces[] =
    "[PAD]\n[UNK]\n[SEP]\na\n##a\nb\n##b\nthe\n##ing\n!\n\xe4\xba\xba\n\xe1\x84\x80\n##\xe1\x85\xa1\n";
  static struct tokenizer *usual;
  r4_error e = {0};
  if (!usual) usual = parse(pieces, strlen(pieces), &e);
  require(usual != NULL);
  if (!size) return 0;
  if (data[0] != 'v') {
    use(usual, (const char *)data + 1, size - 1);
    return 0;
  }
  struct tokenizer *t = parse(data + 1, size - 1, &e);
  if (t) use(t, "the b\xc3\xa1\xe4\xba\xba [SEP]", 15);
  tokenizer_free(t);
  return 0;
}
