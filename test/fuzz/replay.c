/* Runs a fuzz target once on each input of its corpus, without libFuzzer, and prints TAP.
 *
 *     replay_NAME [FILE ...]     no FILE: every file of the folder R4_CORPUS
 *
 * A bad input stops the program: it is the file that follows the last line printed. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The memory is exactly as long as the file, so that a sanitizer sees reads behind its end. */
static uint8_t *read_file(const char *path, size_t *size)
{
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  uint8_t *data = NULL;
  long end = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
  if (end >= 0) data = malloc(end ? (size_t)end : 1);
  rewind(f);
  *size = data ? (size_t)end : 0;
  if (data && fread(data, 1, *size, f) != *size) {
    free(data);
    data = NULL;
  }
  fclose(f);
  return data;
}

static int replay(int number, const char *path)
{
  size_t size;
  errno = 0;
  uint8_t *data = read_file(path, &size);
  if (data) LLVMFuzzerTestOneInput(data, size);
  printf("%s %d - %s\n", data ? "ok" : "not ok", number, path);
  if (!data) printf("# cannot read it: %s\n", strerror(errno));
  fflush(stdout);
  free(data);
  return !data;
}

static int is_input(const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static int replay_folder(const char *folder)
{
  struct dirent **entry = NULL;
  int n = scandir(folder, &entry, is_input, alphasort);
  int failed = 0;
  printf("1..%d%s\n", n > 0 ? n : 0, n > 0 ? "" : " # SKIP no corpus");
  for (int i = 0; i < n; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
    failed += replay(i + 1, path);
    free(entry[i]);
  }
  free(entry);
  return failed;
}

int main(int argc, char **argv)
{
  if (argc < 2) return replay_folder(R4_CORPUS) > 0;
  int failed = 0;
  printf("1..%d\n", argc - 1);
  for (int i = 1; i < argc; i++) failed += replay(i, argv[i]);
  return failed > 0;
}
