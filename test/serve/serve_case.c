#include "serve/serve_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "folder_make.h"

static const char what[] = "a tag at the left: 3 of 3 photos, all cats";
const char serve_key[] = "tag-7377fabe";

void serve_folder(const char *folder)
{
  char table[400] = "file,label,split\n", name[80], text[1200];
  size_t n = strlen(table);
  for (int k = 0; k < 6; k++) {
    snprintf(name, sizeof name, "images/%d.png", k);
    put_grey(folder, name, SERVE_HEIGHT, SERVE_WIDTH, (uint8_t)(40 * k), 100);
    n += (size_t)snprintf(table + n, sizeof table - n, "%d.png,%s,%s\n", k, k % 2 ? "dog" : "cat",
                          k < 4 ? "train" : "test");
  }
  put_text(folder, "metadata.csv", table);
  snprintf(
    text, sizeof text,
    "{\"version\": 1, \"net\": null, \"tried\": 9, \"level\": 0.05, \"sentence\": \"one cue\", \"findings\": "
    "[{\"id\": \"tag\", \"kind\": \"colour\", \"what\": \"%s\", \"class\": \"cat\", \"p\": 0.001, \"pure\": "
    "true, "
    "\"examples\": [{\"file\": \"0.png\", \"score\": 1, \"box\": [0, 0, 0.5, 1]}, {\"file\": \"2.png\", "
    "\"score\": 0.5, \"box\": null}, {\"file\": \"4.png\", \"score\": 0.2, \"box\": null}, {\"file\": "
    "\"../none.png\", \"box\": null}]}, {\"id\": \"../bad\", \"what\": \"x\"}]}",
    what);
  put_text(folder, "find.json", text);
  char place[200];
  for (int k = 0; k < 6; k += 2) {
    snprintf(place, sizeof place, ".r4/proposals/%s/masks/%d.png", serve_key, k);
    put_grey(folder, place, SERVE_HEIGHT, SERVE_WIDTH, 255, 0);
  }
  snprintf(place, sizeof place, ".r4/proposals/%s/proposals.json", serve_key);
  put_text(
    folder, place,
    "{\"version\": 1, \"finding\": \"tag\", \"proposals\": [{\"file\": \"4.png\", \"mask\": \"masks/4.png\", "
    "\"sure\": 0.1}, {\"file\": \"2.png\", \"mask\": \"masks/2.png\", \"sure\": 0.5}, {\"file\": \"0.png\", "
    "\"mask\": \"masks/0.png\", \"sure\": 0.9}]}");
}

void serve_open(struct site *s, const char *folder)
{
  r4_error e = {0};
  *s = (struct site){.root = -1, .hasty = true, .port = SERVE_PORT, .tasks.off = true};
  if (site_open(s, folder, false, &e)) fail_msg("%s", e.text);
}

/* ---- Requests ---- */

struct source {
  const struct asked *asked;
  const struct site *site;
  char argument[8][200], header[8][200];
};

static const char *find_argument(const void *from, const char *name)
{
  struct source *s = (struct source *)(uintptr_t)from;
  size_t n = strlen(name), k = 0;
  for (const char *at = s->asked->query; at && *at && k < 8; at += strcspn(at, "&"), at += *at == '&', k++) {
    if (strncmp(at, name, n) || at[n] != '=') continue;
    snprintf(s->argument[k], sizeof s->argument[k], "%.*s", (int)strcspn(at + n + 1, "&"), at + n + 1);
    return s->argument[k];
  }
  return NULL;
}

static const char *find_header(const void *from, const char *name)
{
  struct source *s = (struct source *)(uintptr_t)from;
  size_t n = strlen(name);
  for (size_t k = 0; k < 8 && s->asked->headers[k]; k++) {
    const char *line = s->asked->headers[k];
    if (strncasecmp(line, name, n) || (line[n] && line[n] != ':')) continue;
    return line[n] ? line + n + 2 : NULL;
  }
  snprintf(s->header[0], sizeof s->header[0], "127.0.0.1:%d", SERVE_PORT);
  snprintf(s->header[1], sizeof s->header[1], "http://127.0.0.1:%d", SERVE_PORT);
  return !strcmp(name, "Host")         ? s->header[0]
         : !strcmp(name, "Origin")     ? s->header[1]
         : !strcmp(name, "X-R4-Token") ? s->site->token
                                       : NULL;
}

struct answer serve_ask(struct site *s, const char *method, const char *path, struct asked asked)
{
  struct source from = {.asked = &asked, .site = s};
  struct request r = {method, path, find_argument, find_header, &from, asked.body, asked.size};
  struct answer a = {0};
  size_t most;
  if (!serve_admit(s, &r, &most, &a)) return a;
  answer_clear(&a);
  serve_answer(s, &r, &a);
  return a;
}

void serve_expect(struct site *s, const char *method, const char *path, struct asked asked, int status,
                  const char *text)
{
  struct answer a = serve_ask(s, method, path, asked);
  if (a.status != status || (*text && !memmem(a.body, a.size, text, strlen(text))))
    fail_msg("%s %s?%s: %d, expected %d: \"%.*s\", expected \"%s\"", method, path,
             asked.query ? asked.query : "", a.status, status, (int)(a.size < 900 ? a.size : 900),
             (const char *)a.body, text);
  answer_clear(&a);
}

void serve_post(struct site *s, const char *path, const char *json, int status, const char *text)
{
  char body[2000];
  snprintf(body, sizeof body, "%s", json);
  for (char *c = body; *c; c++)
    if (*c == '\'') *c = '"';
  serve_expect(
    s, "POST", path,
    (struct asked){.headers = {"Content-Type: application/json"}, .body = body, .size = strlen(body)}, status,
    text);
}

void serve_paint(struct site *s, const char *query, size_t width, size_t height, size_t from, size_t to,
                 int status, const char *text)
{
  uint8_t *png;
  size_t size;
  r4_image mask = {height, width, 1, calloc(height, width)};
  for (size_t k = 0; k < width * height; k++) mask.pixel[k] = k % width >= from && k % width < to ? 255 : 0;
  assert_int_equal(r4_image_png(&mask, &png, &size, NULL), R4_OK);
  serve_expect(
    s, "PUT", "/mask",
    (struct asked){.query = query, .headers = {"Content-Type: image/png"}, .body = png, .size = size}, status,
    text);
  r4_bytes_free(png);
  free(mask.pixel);
}
