#include "train/manifest.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/file.h"
#include "base/json.h"

static void add_text(struct json_writer *w, const char *key, const char *value)
{
  jw_key(w, key);
  jw_text(w, value);
}

static void add_whole(struct json_writer *w, const char *key, int64_t value)
{
  jw_key(w, key);
  jw_whole(w, value);
}

/* "AMD EPYC 7763 64-Core Processor", from the line "model name : ..." of /proc/cpuinfo. */
static void cpu_name(char *to, size_t size)
{
  char line[256];
  snprintf(to, size, "unknown");
  FILE *f = fopen("/proc/cpuinfo", "r");
  while (f && fgets(line, sizeof line, f)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) || !colon) continue;
    snprintf(to, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    break;
  }
  if (f) fclose(f);
}

static void add_machine(struct json_writer *w)
{
  char cpu[128];
  struct utsname os;
  cpu_name(cpu, sizeof cpu);
  jw_key(w, "machine");
  jw_open(w, '{');
  add_text(w, "cpu", cpu);
  if (!uname(&os)) add_text(w, "system", os.sysname);
  add_whole(w, "threads", r4_threads(0, false));
  add_text(w, "compiler", __VERSION__);
  jw_close(w, '}');
}

static void add_data(struct json_writer *w, const struct run *r)
{
  jw_key(w, "data");
  jw_open(w, '{');
  add_text(w, "about", r4_data_about(r->train));
  add_text(w, "sha256", r->data_hash);
  add_whole(w, "train", (int64_t)r4_data_count(r->train));
  add_whole(w, "val", r->val ? (int64_t)r4_data_count(r->val) : 0);
  jw_close(w, '}');
}

r4_status manifest_write(const struct run *r, const char *path, r4_error *e)
{
  char began[32], identity[HASH_HEX];
  time_t t = time(NULL);
  struct tm utc;
  strftime(began, sizeof began, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
  hash_hex(r->identity, identity);
  struct json_writer w = {0};
  jw_open(&w, '{');
  add_text(&w, "r4", R4_VERSION);
  add_text(&w, "began", began);
  add_whole(&w, "seed", r->s->seed);
  add_text(&w, "method", r->s->method);
  add_text(&w, "net", r4_net_layers(r->net));
  add_whole(&w, "weights", (int64_t)r->size);
  add_whole(&w, "masked_features", (int64_t)r->masked);
  add_data(&w, r);
  add_text(&w, "settings_and_data_sha256", identity);
  add_machine(&w);
  jw_close(&w, '}');
  text_add(&w.text, "\n");
  char *text = text_take(&w.text);
  if (!text) return r4_fail(e, R4_E_MEMORY, "%s: out of memory", path);
  r4_status s = file_write(path, text, strlen(text), e);
  r4_string_free(text);
  return s;
}
