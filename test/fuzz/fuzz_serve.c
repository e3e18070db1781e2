/* r4 serve: requests of any method, address, header and body, and files of the folder with anything in them. Each is
 * answered, with a status, and nothing but the files that are the server's is written.
 *
 *     METHOD PATH?QUERY          FILE NAME
 *     Header: value              (a blank line, and what is in the file)
 *     (a blank line, and the body)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PHOTOS = 4, WIDTH = 6, HEIGHT = 4, PARTS = 16 };

static struct site site;
static char folder[] = "/tmp/r4-fuzz-serve-XXXXXX";
static const char key[] = "tag-2d711642"; /* of "x" */

static void require(int holds)
{
  if (!holds) abort();
}

static void put(const char *name, const void *bytes, size_t size)
{
  r4_error e = {0};
  require(place_write(&site, name, bytes, size, &e) == R4_OK);
}

static void put_text(const char *name, const char *text)
{
  put(name, text, strlen(text));
}

static void put_image(const char *name)
{
  uint8_t pixel[WIDTH * HEIGHT] = {255, 0, 255}, *png;
  size_t size;
  require(r4_image_png(&(r4_image){HEIGHT, WIDTH, 1, pixel}, &png, &size, NULL) == R4_OK);
  put(name, png, size);
  r4_bytes_free(png);
}

static void put_found(void)
{
  char place[PATH_MAX];
  put_text("find.json",
           "{\"findings\": [{\"id\": \"tag\", \"what\": \"x\", \"examples\": [{\"file\": \"1.png\", \"box\": "
           "[0, 0, 1, 1]}]}]}");
  found_place(key, "proposals.json", place);
  put_text(place, "{\"proposals\": [{\"file\": \"1.png\", \"mask\": \"masks/1.png\", \"sure\": 0.1}]}");
}

/* Names of ours only: nothing else may be in the folder. */
static void clean(void)
{
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  if (system(command)) perror(command);
}

static void start(void)
{
  char name[64], place[PATH_MAX];
  r4_error e = {0};
  require(mkdtemp(folder) != NULL);
  require((site.root = open(folder, O_RDONLY | O_DIRECTORY)) >= 0);
  site.hasty = true;
  for (int k = 0; k < PHOTOS; k++) {
    snprintf(name, sizeof name, "images/%d.png", k);
    put_image(name);
  }
  put_text("metadata.csv", "file,label\n0.png,a\n1.png,b\n2.png,a\n3.png,b\n");
  found_place(key, "masks/1.png", place);
  put_image(place);
  close(site.root);
  require(site_open(&site, folder, true, &e) == R4_OK);
  site.port = 80;
  site.tasks.off = true;
  atexit(clean);
}

/* ---- Requests ---- */

struct parts {
  char *argument[PARTS], *header[PARTS]; /* "name=value", "Name: value" */
};

static const char *argument(const void *from, const char *name)
{
  const struct parts *p = from;
  size_t n = strlen(name);
  for (size_t k = 0; k < PARTS && p->argument[k]; k++)
    if (!strncmp(p->argument[k], name, n) && p->argument[k][n] == '=') return p->argument[k] + n + 1;
  return NULL;
}

static const char *header(const void *from, const char *name)
{
  const struct parts *p = from;
  size_t n = strlen(name);
  for (size_t k = 0; k < PARTS && p->header[k]; k++)
    if (!strncasecmp(p->header[k], name, n) && !strncmp(p->header[k] + n, ": ", 2))
      return p->header[k] + n + 2;
  return !strcmp(name, "Host")         ? "127.0.0.1:80"
         : !strcmp(name, "Origin")     ? "http://127.0.0.1:80"
         : !strcmp(name, "X-R4-Token") ? site.token
                                       : NULL;
}

/* The part of *at before one of the letters, which is cut off; *at goes on behind it. */
static char *cut(char **at, const char *letters)
{
  char *part = *at;
  *at += strcspn(*at, letters);
  if (**at) *(*at)++ = 0;
  return part;
}

static void ask(char *head, const uint8_t *body, size_t size)
{
  struct parts p = {0};
  struct answer a = {0};
  size_t most;
  char *line = cut(&head, "\n");
  struct request r = {.method = cut(&line, " "),
                      .argument = argument,
                      .header = header,
                      .from = &p,
                      .body = body,
                      .size = size};
  r.path = cut(&line, "?");
  for (size_t k = 0; k + 1 < PARTS && *line; k++) p.argument[k] = cut(&line, "&");
  for (size_t k = 0; k + 1 < PARTS && *head; k++) p.header[k] = cut(&head, "\n");
  if (serve_admit(&site, &r, &most, &a)) {
    answer_clear(&a);
    serve_answer(&site, &r, &a);
  }
  require(a.status >= 200 && a.status < 600 && (a.body || !a.size));
  answer_clear(&a);
}

/* ---- Files ---- */

static void with_file(const char *name, const uint8_t *bytes, size_t size)
{
  static const char *const names[] = {"find.json", "marks.json", "masks/1.png", "proposals.json", "r4.yaml"};
  char place[PATH_MAX],
    query[5][64] = {"GET /api/find", "GET /api/photos?finding=tag-2d711642", "GET /mask?photo=1",
                    "GET /proposal?photo=1&finding=tag-2d711642", "GET /api/settings"};
  size_t k = 0;
  while (k < 5 && strcmp(names[k], name)) k++;
  if (k == 5) return;
  if (k == 3)
    found_place(key, name, place);
  else
    snprintf(place, sizeof place, "%s", name);
  put(place, bytes, size);
  for (int q = 0; q < 5; q++) ask(query[q], NULL, 0);
  put_found();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const ours[] = {"marks.json",  "masks/0.png", "masks/1.png",
                                     "masks/2.png", "masks/3.png", "r4.yaml"};
  r4_error e = {0};
  if (!*site.token) start(), put_found();
  char *text = malloc(size + 1);
  require(text != NULL);
  memcpy(text, data, size);
  text[size] = 0;
  char *end = strstr(text, "\n\n");
  const uint8_t *body = end ? data + (end - text) + 2 : NULL;
  size_t rest = end ? size - (size_t)(end - text) - 2 : 0;
  if (end) *end = 0;
  if (!strncmp(text, "FILE ", 5))
    with_file(text + 5, body, rest);
  else
    ask(text, body, rest);
  free(text);
  for (size_t k = 0; k < sizeof ours / sizeof *ours; k++) place_remove(&site, ours[k], &e);
  site.tasks.n = 0;
  return 0;
}
