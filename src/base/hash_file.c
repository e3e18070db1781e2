/* The digest of a file, compared with the one that its publisher gives. */
#include <errno.h>
#include <nettle/md5.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "r4_tools.h"

enum { MD5_HEX = 2 * MD5_DIGEST_SIZE };

/* Both digests in one pass, in hex. */
static bool digest(FILE *f, char sha256[HASH_HEX], char md5[MD5_HEX + 1])
{
  uint8_t block[1 << 15], result[HASH_BYTES];
  struct md5_ctx other;
  struct hash h;
  md5_init(&other);
  hash_start(&h);
  for (size_t n; (n = fread(block, 1, sizeof block, f));) {
    hash_add(&h, block, n);
    md5_update(&other, n, block);
  }
  hash_end(&h, result);
  hash_hex(result, sha256);
  md5_digest(&other, MD5_DIGEST_SIZE, result);
  for (size_t k = 0; k < MD5_DIGEST_SIZE; k++) snprintf(md5 + 2 * k, 3, "%02x", result[k]);
  return !ferror(f);
}

r4_status r4_file_check(const char *path, const char *expected, r4_error *e)
{
  NEEDS(expected, "a digest", R4_E_ARGUMENT);
  char sha256[HASH_HEX], md5[MD5_HEX + 1];
  FILE *f = file_open(path, e);
  if (!f) return R4_E_IO;
  bool read = digest(f, sha256, md5);
  int why = errno;
  fclose(f);
  if (!read) return r4_fail(e, R4_E_IO, "%s: reading: %s", path, strerror(why));
  bool short_one = strlen(expected) == MD5_HEX;
  const char *got = short_one ? md5 : sha256;
  if (!strcmp(got, expected)) return R4_OK;
  return r4_fail(e, R4_E_IO, "%s: has %s %s, expected %s", path, short_one ? "MD5" : "SHA-256", got,
                 expected);
}
