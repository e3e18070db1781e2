/* Who may ask. The server is for the browser of whoever started it. Three strangers can reach its port:
 *
 *   other users and programs of the machine   they do not know the token
 *   pages of other sites, in the same browser  their Origin is another, and the cookie is SameSite=Strict; browsers say
 *                                              Sec-Fetch-Site, too
 *   pages whose name resolves to this machine (DNS rebinding)   their Host is that name
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "serve/serve.h"

bool guard_secret(char secret[SECRET_SIZE])
{
  uint8_t bits[SECRET_SIZE / 2];
  if (getrandom(bits, sizeof bits, 0) != (ssize_t)sizeof bits) return false;
  for (size_t k = 0; k < sizeof bits; k++) snprintf(secret + 2 * k, 3, "%02x", bits[k]);
  return true;
}

/* Takes as long wherever the first difference is. */
static bool is_secret(const char *said, size_t n, const char *secret)
{
  unsigned different = n != SECRET_SIZE - 1 || !*secret;
  for (size_t k = 0; k < SECRET_SIZE - 1; k++)
    different |= (unsigned)(unsigned char)secret[k] ^ (unsigned)(unsigned char)(k < n ? said[k] : 0);
  return !different;
}

void guard_cookie_name(const struct site *s, char name[32])
{
  snprintf(name, 32, "r4-%d", s->port);
}

/* "a=1; r4-8080=..": one of that name may be somebody else's, on another path. */
static bool has_cookie(const struct site *s, const char *cookies)
{
  char name[32];
  guard_cookie_name(s, name);
  size_t n = strlen(name);
  while (cookies && *cookies) {
    cookies += strspn(cookies, "; ");
    size_t length = strcspn(cookies, ";");
    if (length > n && !strncmp(cookies, name, n) && cookies[n] == '=' &&
        is_secret(cookies + n + 1, length - n - 1, s->cookie))
      return true;
    cookies += length;
  }
  return false;
}

/* Browsers send the cookie to all servers of the machine, whatever their port: it is enough to look, not to write. */
static bool knows_token(const struct site *s, const struct request *r, bool writes)
{
  const char *header = r->header(r->from, "X-R4-Token"), *address = r->argument(r->from, "token");
  if (header) return is_secret(header, strlen(header), s->token);
  if (address && !strcmp(r->path, "/")) return is_secret(address, strlen(address), s->token);
  return !writes && has_cookie(s, r->header(r->from, "Cookie"));
}

/* 127.0.0.1:PORT, localhost:PORT or [::1]:PORT, after before. */
static bool is_here(const struct site *s, const char *said, const char *before)
{
  static const char *const name[] = {"127.0.0.1", "localhost", "[::1]"};
  char here[64];
  for (size_t k = 0; said && k < sizeof name / sizeof *name; k++) {
    snprintf(here, sizeof here, "%s%s:%d", before, name[k], s->port);
    if (!strcmp(said, here)) return true;
  }
  return false;
}

static bool is_foreign(const struct request *r)
{
  const char *site = r->header(r->from, "Sec-Fetch-Site");
  return site && strcmp(site, "same-origin") && strcmp(site, "none");
}

int guard_refuses(const struct site *s, const struct request *r, bool writes, const char **why)
{
  const char *origin = r->header(r->from, "Origin");
  bool opens =
    !strcmp(r->path, "/") && !writes; /* a link to it may stand anywhere: it has to bring the token */
  *why = NULL;
  if (!is_here(s, r->header(r->from, "Host"), ""))
    *why = "asked for under a name that is not this machine's own";
  else if ((writes || origin) && !is_here(s, origin, "http://"))
    *why = "asked by a page of another origin";
  else if (!opens && is_foreign(r))
    *why = "asked by a page of another site";
  else if (!knows_token(s, r, writes))
    *why = "the token is missing: open the address that r4 serve has printed";
  return *why ? 403 : 0;
}
