/* Lists of runs that several workers share: --plan, r4 work, and what Slurm runs. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "folder_make.h"

#define ONE "$R4 sweep base.yaml --over rate=0.02 --out "
#define RUN "/runs/rate=0.02"
#define WORK "/work/rate=0.02"

static int make(void **state)
{
  if (scratch_make(state)) return -1;
  put_text(scratch_folder(), "base.yaml",
           "data: decoy-mnist\ndata.from: digits:240\ndata.val: 0.2\nnet: dense 8, relu, dense 10\nepochs: "
           "4\nbatch: "
           "16\nclass_weights: none\nmethod: r3\nlambda: 0.1\n");
  put_text(scratch_folder(), "table/erm.yaml", "base: ../base.yaml\nmethod: erm\n");
  put_text(scratch_folder(), "table/r3.yaml", "base: ../base.yaml\n");
  put_text(scratch_folder(), "table/table.csv",
           "name,preset,avg,avg_sd,worst,worst_sd,kappa,settings\nERM,erm,,,,,,\nR3,r3,,,,,,\nR3 "
           "strong,r3,,,,,,lambda=30\n");
  put_text(scratch_folder(), "table/ablations/rate.csv",
           "name,preset,x,values\nR3,r3,rate,0.01 0.02\nERM,erm,rate,0.01\n");
  return 0;
}

/* ---- Who makes what ---- */

/* Six workers, three of which are killed wherever they are. Each run is told once, begun no more often than workers
 * died, and none was refused because another was at it; the tables are those of one process. $R4_PLAN_RUNS: more. */
static void killed_workers_change_nothing(void **state)
{
  (void)state;
  const char *runs = getenv("R4_PLAN_RUNS");
  char line[1800];
  snprintf(
    line, sizeof line,
    "n=%s; run=\"$R4 sweep base.yaml --set epochs=40 --over lambda=0.1,1,3,10 --over rate=$(seq -s, 0.010 "
    "0.001 "
    "0.0$((9 + n / 4))) --out s\"; for d in alone shared; do mkdir -p $d; cp base.yaml $d; done; "
    "(cd alone; eval $run --quiet) > alone.txt 2>/dev/null; "
    "cd shared; eval $run --plan; p=; for k in 1 2 3 4 5 6; do $R4 work s --wait 2> said.$k & p=\"$p $!\"; "
    "done; "
    "s=$$; while ! ls s/runs/*/seed-0/checkpoint; do sleep 0.05; done >/dev/null 2>&1; "
    "for v in $(echo $p | cut -d' ' -f 2-4); do s=$(( (s * 1103515245 + 12345) %% 2147483648 )); "
    "sleep 0.$(( s / 65536 %% 5 ))$(( s / 1024 %% 9 )); kill -KILL $v; done; wait; "
    "b=$(cat s/work/*.log | grep -c ^----); [ $b -ge $n ] && [ $b -le $((n + 3)) ] || echo begun $b; "
    "cat said.* | grep '^\\[' | sed 's/.*\\] //; s/:.*//' | sort | uniq -d; "
    "cat said.* s/work/*.log | grep -e 'has been working' -e failed; "
    "$R4 work s --status > ../shared.txt; c=$?; head -1 ../shared.txt; sed -i 1,2d ../shared.txt; cd ..; "
    "for f in md csv json; do cmp alone/s/results.$f shared/s/results.$f || exit 9; done; "
    "cmp alone/s/pareto.csv shared/s/pareto.csv && cmp alone.txt shared.txt && echo the same $c",
    runs ? runs : "12");
  EXPECT(line, 0, runs ? runs : "12", " runs: ", " done, 0 running, 0 failed, 0 left\nthe same 0\n");
  command_lacks("begun");
  command_lacks("lambda=");
  command_lacks("working in");
}

/* They start at the same moment, as the tasks of an array do. */
static void one_of_many_makes_a_run(void **state)
{
  (void)state;
  EXPECT(ONE
         "race --plan && for k in 1 2 3 4; do $R4 work race 2>> said & done; wait; grep -c ^---- race" WORK
         ".log; grep -c '^\\[' said; grep -v ' 0 of 1 runs are done' said",
         0, "\n1\n1\n", "all 1 runs are done");
  command_lacks("working in");
  command_lacks("failed");
}

static void others_find_nothing_to_do(void **state)
{
  (void)state;
  EXPECT("$R4 sweep base.yaml --over rate=0.01,0.02 --out most --plan && $R4 work most --most 1; ls most; "
         "$R4 work most --status; "
         "echo code $?; $R4 work most --most 1; $R4 work most",
         0, "1 of 2 runs are done", "\nplan.json\nruns\nwork\n",
         "2 runs: 1 done, 0 running, 0 failed, 1 left\n\nbase.yaml: 1 seed", "code 1",
         "all 2 runs are done, and the tables are written");
  EXPECT("$R4 sweep base.yaml --over rate=0.01,0.02 --out most --quiet; cat most/work/*.log | grep -c ^----",
         0, "\n2\n");
}

/* SIGUSR1 saves and stops, as Ctrl-C does; while it works, its process is named, and its plan stays. */
static void a_signal_saves_and_stops(void **state)
{
  (void)state;
  EXPECT(
    ONE
    "usr --set epochs=3000000 --plan; $R4 work usr > said 2>&1 & p=$!; "
    "for i in $(seq 400); do [ -s usr" RUN "/seed-0/checkpoint ] && break; sleep 0.1; done; sleep 0.2; "
    "$R4 work usr --status; echo \"worker $p.\"; $R4 work usr; " ONE "usr --plan; echo code $?; "
    "kill -USR1 $p; (sleep 60; kill -KILL $p) >/dev/null 2>&1 & wait $p; echo ended $?; kill $!; cat said; "
    "$R4 work usr --status",
    1, "1 runs: 0 done, 1 running, 0 failed, 0 left\nrunning rate=0.02: process ",
    "made 0; 0 of 1 runs are done", " makes rate=0.02, by the plan that is there: stop that first", "code 3",
    "ended 1", "r4 work: stopped and saved; the same command continues", "0 done, 0 running, 0 failed, 1 left");
  EXPECT("set -- $(grep -o 'process [0-9]*' usr" WORK ".log); [ -e usr" RUN
         "/seed-0/checkpoint ] && ! [ -s usr" WORK ".lock ] && echo saved",
         0, "saved");
}

/* The worker that waits gets the run of one that is killed, whose lock ends with it, and goes on where that was. */
static void who_waits_takes_over(void **state)
{
  (void)state;
  EXPECT(ONE
         "heir --set epochs=3000000 --plan; $R4 work heir & p=$!; for i in $(seq 400); do [ -s heir" RUN
         "/seed-0/checkpoint ] && break; sleep 0.1; done; $R4 work heir --wait > said 2>&1 & q=$!; sleep 1; "
         "e=$(grep -c . "
         "heir" RUN "/seed-0/log.jsonl); kill -KILL $p; for i in $(seq 200); do [ $(grep -c ^---- heir" WORK
         ".log) = 2 ] && break; sleep 0.1; done; sleep 0.5; kill -USR1 $q; (sleep 60; kill -KILL $q) "
         ">/dev/null 2>&1 & "
         "wait $q; echo ended $?; kill $!; cat said; grep -o '\"epoch\":[0-9]*' heir" RUN
         "/seed-0/log.jsonl | uniq -d; [ $(grep -c . heir" RUN "/seed-0/log.jsonl) -ge $e ] && echo went on",
         0, "ended 1", "stopped and saved", "went on");
  command_lacks("\"epoch\"");
}

/* Bits depend on the number of threads: it is that of the plan, whatever the worker would take by itself. */
static void threads_are_those_of_the_plan(void **state)
{
  (void)state;
  EXPECT("OMP_NUM_THREADS=1 " ONE "narrow --jobs 1 --plan; $R4 work narrow; cat narrow" RUN
         "/seed-0/manifest.json",
         0, "\"threads\":1,");
}

/* The same of the other commands, whose seeds are side by side, or which have several tables. */
static void other_lists_are_shared(void **state)
{
  (void)state;
  EXPECT("for d in alone shared; do cp -r base.yaml table $d; done; run='$R4 reproduce table --seeds 2 "
         "--splits 2 --out t'; "
         "(cd alone; eval $run --quiet) > alone.txt; cd shared; eval $run --plan; for k in 1 2 3; do $R4 "
         "work t --wait "
         "& done; wait; $R4 work t --status > ../shared.txt; sed -i 1,2d ../shared.txt; cd ..; "
         "for f in txt md csv json; do cmp alone/t/results.$f shared/t/results.$f || exit 9; done; "
         "sed '/Time of training/,$d' alone.txt > a; sed '/Time of training/,$d' shared.txt | cmp - a && "
         "echo same",
         0, "6 runs of 1 thread each are planned", "same\n");
  EXPECT("run='$R4 ablate table --only rate --quick --out q'; (cd alone; eval $run --quiet) > alone.txt; "
         "cd shared; eval $run --plan; $R4 work q & $R4 work q --wait; wait; cd ..; diff -r alone/q/rate "
         "shared/q/rate && "
         "echo same",
         0, "3 runs of 1 thread each are planned", "same\n");
}

/* Tables of rows that are whole, and of no others. */
static void there_are_tables_on_the_way(void **state)
{
  (void)state;
  EXPECT("$R4 reproduce table --seeds 1 --splits 2 --out part --plan; $R4 work part --most 3; ls part; $R4 "
         "work part "
         "--status",
         1, "3 of 6 runs are done", "plan.json", "6 runs: 3 done, 0 running, 0 failed, 3 left", "| ERM ");
  command_lacks("| R3 ");
  command_lacks("results.md");
}

/* ---- Failures ---- */

static void failures_are_kept_and_told(void **state)
{
  (void)state;
  EXPECT("$R4 sweep base.yaml --over 'net=dense 3; dense 10' --out bad --plan; $R4 work bad; echo code $?; "
         "$R4 work bad "
         "--quiet; echo code $?; grep -c ^---- bad/work/net=dense_3.log; $R4 work bad --again --quiet; grep "
         "-c ^---- "
         "bad/work/net=dense_3.log; $R4 work bad --status",
         1, "r4 work: net=dense_3 failed: exit code 2 on ",
         "net \"dense 3\" has 3 outputs, the data 10 classes", "1 of 2 runs are done", "code 1\ncode 1\n1\n",
         "\n2\n2 runs: 1 done, 0 running, 1 failed, 0 left\nfailed net=dense_3: "
         "exit code 2 on ",
         "3 outputs, the data 10 classes\n\nbase.yaml");
  EXPECT(ONE "again --plan; mkdir -p again/runs; touch again" RUN "; $R4 work again; rm again" RUN
             "; $R4 work again; echo code $?; $R4 work again --again; ls again/work",
         0, "rate=0.02 failed: exit code 3 on ", "code 1", "all 1 runs are done");
  command_lacks("rate=0.02.failed");
}

/* A failure of a run with other settings is not one of this. */
static void failures_are_of_what_was_asked(void **state)
{
  (void)state;
  EXPECT(ONE "asked --plan; mkdir asked/work; echo $(printf %064d 7) exit code 3 on mars > asked" WORK
             ".failed; $R4 work asked",
         0, "all 1 runs are done");
}

static void a_worker_whose_runs_all_fail_stops(void **state)
{
  (void)state;
  EXPECT(
    "$R4 sweep base.yaml --over 'net=dense 3; dense 4; dense 5; dense 6; dense 7' --out luck --plan; $R4 "
    "work luck "
    "--quiet; echo code $?; $R4 work luck --status",
    1,
    "3 runs in a row failed here, so it makes no more\ncode 3\n5 runs: 0 done, 0 running, 3 failed, 2 left");
}

/* Owners that died without a word are counted by the file of the lock, and not if the run came further. */
static void a_run_that_kills_its_workers_has_failed(void **state)
{
  (void)state;
#define DEAD(deaths) "echo 7 mars 2026-01-01T00:00:00Z " deaths " 0 > dead" WORK ".lock; "
  EXPECT(ONE "dead --plan; mkdir dead/work; " DEAD("4") "$R4 work dead; echo code $?; $R4 work dead --status",
         1, "r4 work: rate=0.02 failed: 5 workers died making it", "code 1",
         "failed rate=0.02: 5 workers died making it, the last of them on ");
  EXPECT(DEAD("3") "rm dead/work/*.failed; $R4 work dead --quiet; $R4 work dead --status", 0,
         "1 runs: 1 done");
  EXPECT("rm dead" RUN "/summary-val.json; " DEAD("9") "$R4 work dead; ! [ -s dead" WORK ".lock ]", 0,
         "all 1 runs are done");
}

/* One whose process is killed, while its worker lives. */
static void killed_runs_have_failed(void **state)
{
  (void)state;
  EXPECT(ONE "kill --set epochs=3000000 --plan; $R4 work kill > said 2>&1 & p=$!; for i in $(seq 400); do [ "
             "-s kill" RUN "/seed-0/checkpoint ] && break; sleep 0.1; done; kill -KILL $(cat "
             "/proc/$p/task/$p/children); wait $p; echo "
             "code $?; cat said",
         0, "code 1", "rate=0.02 failed: ended by signal 9 on ");
}

/* ---- What is no plan, or no longer ---- */

static void mistakes_are_named(void **state)
{
  (void)state;
  EXPECT("$R4 work nowhere", 3, "r4 work: nowhere: No such file or directory");
  EXPECT("$R4 work table", 3,
         "table: there is no plan.json: r4 sweep, reproduce or ablate with --plan makes one");
  EXPECT("mkdir text; echo hello > text/plan.json; $R4 work text", 3, "text/plan.json: line 1");
  EXPECT(ONE "edit --plan; ls edit; sed 's/\"threads\":1/\"threads\":2/' edit/plan.json > edited; cp edited "
             "edit/plan.json; "
             "$R4 work edit",
         2, "plan.json\n", "edit/plan.json: was edited");
  command_lacks("runs\n");
  EXPECT(ONE "moved --plan; cp -r moved copy; $R4 work copy", 2,
         "copy/plan.json: is the plan of the folder moved, and was moved or copied");
  EXPECT(ONE "blocked --plan; touch blocked/work; $R4 work blocked", 3, "blocked/work/rate=0.02.lock: ");
  EXPECT("rm blocked/work; mkdir elsewhere; ln -s ../elsewhere blocked/work; $R4 work blocked; echo code $?; "
         "ls elsewhere",
         0, "blocked/work: is a link, expected a folder", "code 3\n");
  command_lacks(".lock");
  EXPECT("touch file; " ONE "file --plan", 3, "file");
  EXPECT(ONE "'a\"b' --slurm 2", 2, "cannot be in a script for Slurm");
  EXPECT("$R4 sweep base.yaml --over rate=0.01 --out none --slurm 0.5", 2, "--slurm needs a whole number");
}

/* Rewrites the checksum, as a plan by another version has its own. */
#define RESEAL                                                                                  \
  "python3 - <<'EOF'\nimport hashlib, re\np = 'old/plan.json'\ns = open(p).read()\n"            \
  "s = re.sub('\"r4\":\"', '\"r4\":\"9', s)\ni = s.index(',\"sha256\"')\n"                      \
  "open(p, 'w').write(s[:i] + ',\"sha256\":\"' + hashlib.sha256(s[:i].encode()).hexdigest() + " \
  "'\"}\\n')\nEOF\n"

static void what_has_changed_is_refused(void **state)
{
  (void)state;
  EXPECT("cp base.yaml now.yaml; $R4 sweep now.yaml --over rate=0.02 --out now --plan; echo 'weight_decay: "
         "0.1' >> now.yaml; "
         "$R4 work now; echo code $?; ls now; $R4 work now --status",
         2, "rate=0.02 has other settings or data now than when it was planned: plan again",
         "code 2\nplan.json\n");
  EXPECT(
    "$R4 data make decoy-mnist --from digits:240 --val 0.2 --out set.npz; sed 's/^data:.*/data: set.npz/; "
    "/data.from/d; /data.val/d' base.yaml > set.yaml; $R4 sweep set.yaml --over rate=0.02 --out set --plan; "
    "touch -d "
    "2001-01-01 set.npz; $R4 work set",
    2, "rate=0.02 has other settings or data now");
  EXPECT("cp -r table grown; $R4 reproduce grown --out grow --plan; echo R4,r3,,,,,,lambda=2 >> "
         "grown/table.csv; $R4 work "
         "grow",
         2, "grow/plan.json: 3 runs are planned, and the command lists 4 now");
  if (system("command -v python3 >/dev/null")) return;
  EXPECT(ONE "old --plan; " RESEAL "$R4 work old", 2,
         "old/plan.json: is of r4 9" R4_VERSION ", this is r4 " R4_VERSION ": plan again");
}

static void as_many_threads_as_planned(void **state)
{
  (void)state;
  EXPECT(ONE "wide --set threads=2 --plan; OMP_NUM_THREADS=1 $R4 work wide; echo code $?; OMP_NUM_THREADS=1 "
             "$R4 work wide "
             "--status",
         1, "its runs compute with 2 threads each, and this process may use 1", "code 2",
         "0 done, 0 running, 0 failed, 1");
}

/* ---- Slurm ---- */

/* What Slurm does with the script, done by hand: its task is told that the time is over, saves, and asks for another
 * turn. */
static void the_script_requeues_its_task(void **state)
{
  (void)state;
  put_text(scratch_folder(), "bin/scontrol", "#!/bin/sh\necho scontrol \"$@\"\n");
  EXPECT(ONE "'a b' --set epochs=3000000 --slurm 8; ls 'a b'; cat 'a b/plan.sbatch'", 0,
         "plan.sbatch\nwork\n", "sbatch '/", "a b'/plan.sbatch",
         "#SBATCH --job-name=\"a b\"\n#SBATCH --array=1-1%8\n", "#SBATCH --cpus-per-task=1\n",
         "#SBATCH --requeue\n", "#SBATCH --signal=B:USR1@120\n", "/a b/work/slurm-%A_%a.log\"\n",
         " --most 1 &\n");
  EXPECT("chmod +x bin/scontrol; export PATH=\"$PWD/bin:$PATH\" SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=3; "
         "sh 'a b/plan.sbatch' > said 2>&1 & p=$!; for i in $(seq 400); do [ -s 'a b" RUN
         "/seed-0/checkpoint' ] && break; "
         "sleep 0.1; done; kill -USR1 $p; (sleep 60; kill -KILL $p) >/dev/null 2>&1 & wait $p; echo ended "
         "$?; kill $!; cat "
         "said; $R4 work 'a b' --status",
         1, "ended 1", "stopped and saved", "scontrol requeue 7_3\n", "0 done, 0 running, 0 failed, 1 left");
  EXPECT(ONE "50% --slurm 8; cat 50%/plan.sbatch", 0, "/50%%/work/slurm-%A_%a.log\"\n", "/50% --most 1");
  EXPECT(
    "$R4 reproduce table --out array --seeds 2 --jobs 2 --set threads=2 --slurm 4; cat array/plan.sbatch", 0,
    "#SBATCH --array=1-3%4\n", "#SBATCH --cpus-per-task=4\n",
    "OMP_NUM_THREADS=\"${SLURM_CPUS_PER_TASK:-4}\"");
  EXPECT("$R4 sweep base.yaml --over seed=1,2 --over rate=1,2 --out many --plan; $R4 sweep base.yaml --over "
         "rate=$(seq -s, 0.01 0.01 0.3) --over lambda=$(seq -s, 1 30) --over weight_decay=0,0.1 --out many "
         "--slurm 100; cat "
         "many/plan.sbatch",
         0, "#SBATCH --array=1-1000%100\n", " --most 2 &\n");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(killed_workers_change_nothing),
    cmocka_unit_test(one_of_many_makes_a_run),
    cmocka_unit_test(others_find_nothing_to_do),
    cmocka_unit_test(a_signal_saves_and_stops),
    cmocka_unit_test(who_waits_takes_over),
    cmocka_unit_test(threads_are_those_of_the_plan),
    cmocka_unit_test(other_lists_are_shared),
    cmocka_unit_test(there_are_tables_on_the_way),
    cmocka_unit_test(failures_are_kept_and_told),
    cmocka_unit_test(failures_are_of_what_was_asked),
    cmocka_unit_test(a_worker_whose_runs_all_fail_stops),
    cmocka_unit_test(a_run_that_kills_its_workers_has_failed),
    cmocka_unit_test(killed_runs_have_failed),
    cmocka_unit_test(mistakes_are_named),
    cmocka_unit_test(what_has_changed_is_refused),
    cmocka_unit_test(as_many_threads_as_planned),
    cmocka_unit_test(the_script_requeues_its_task),
  };
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli_plan", tests, make, scratch_remove);
}
