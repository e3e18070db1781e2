/* plan.sbatch: all runs of a plan as one job array of Slurm. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "experiment/run_plan.h"

enum { MOST_TASKS = 1000 }; /* Slurm's MaxArraySize is 1001 unless its administrator says more */

/* Slurm reads the lines of #SBATCH itself: in double quotes, with % of its own in names of files. */
static void print_quoted(FILE *f, const char *text, bool is_file)
{
  for (const char *c = text; *c; c++) {
    if (is_file && *c == '%') fputc('%', f);
    fputc(*c, f);
  }
}

/* What neither those quotes nor a line can hold. */
static bool can_be_quoted(const char *text)
{
  return !text[strcspn(text, "\"\\\n\r\t")];
}

/* This program, wherever it was called from. */
static void print_program(FILE *f)
{
  char path[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  path[n > 0 ? n : 0] = 0;
  cli_print_word(f, n > 0 ? path : "r4");
}

static void print_head(FILE *f, const struct plan_array *a, size_t tasks)
{
  fprintf(
    f,
    "#!/bin/sh\n"
    "# Makes the runs of a plan of r4: see doc/scale.md. What is said here, sbatch's own options override:\n"
    "#     sbatch --time=4:00:00 --partition=NAME plan.sbatch\n"
    "# A task takes the next run that nobody makes. Submitted again, it makes what is left.\n");
  fprintf(f, "#SBATCH --job-name=\"");
  print_quoted(f, a->name, false);
  fprintf(f, "\"\n#SBATCH --array=1-%zu%%%lld\n", tasks, (long long)a->beside);
  fprintf(f, "#SBATCH --nodes=1\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%lld\n", (long long)a->cpus);
  fprintf(f, "#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --output=\"");
  print_quoted(f, a->out, true);
  fprintf(f, "/work/slurm-%%A_%%a.log\"\n"
             "# 120 seconds before the time limit, to this script alone:\n"
             "#SBATCH --signal=B:USR1@120\n\n");
}

/* wait returns when the signal comes, before the worker has saved: so it is asked until that has ended. A task that was
 * stopped goes back into the queue under its own number. */
static const char end_of_body[] = "worker=$!\n"
                                  "wait \"$worker\"\n"
                                  "code=$?\n"
                                  "while kill -0 \"$worker\" 2>/dev/null; do\n"
                                  "  wait \"$worker\"\n"
                                  "  code=$?\n"
                                  "done\n"
                                  "if [ -n \"$stopped\" ] && [ \"$code\" -ne 0 ]; then\n"
                                  "  scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\"\n"
                                  "fi\n"
                                  "exit \"$code\"\n";

static void print_body(FILE *f, const struct plan_array *a, size_t most)
{
  fprintf(f, "export OMP_NUM_THREADS=\"${SLURM_CPUS_PER_TASK:-%lld}\"\n", (long long)a->cpus);
  fprintf(f, "stopped=\ntrap 'stopped=1; kill -USR1 \"$worker\" 2>/dev/null' USR1\n");
  print_program(f);
  fprintf(f, " work ");
  cli_print_word(f, a->out);
  fprintf(f, " --most %zu &\n%s", most, end_of_body);
}

int plan_slurm_print(FILE *f, const void *array)
{
  const struct plan_array *a = array;
  if (!can_be_quoted(a->out))
    return cli_fail(
      "work", R4_E_ARGUMENT,
      "a path with quotes, backslashes or line breaks cannot be in a script for Slurm: choose another "
      "--out");
  size_t tasks = a->runs < MOST_TASKS ? a->runs : MOST_TASKS, most = (a->runs + tasks - 1) / tasks;
  print_head(f, a, tasks);
  print_body(f, a, most);
  return EXIT_DONE;
}
