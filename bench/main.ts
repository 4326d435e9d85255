/** `npm run bench [-- [--against PROGRAM] NAME…]`: measures the bundled program and prints a table. See README.md. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { deployment, deployments, hollowRollout, rollout } from './deployments.ts'
import { hollowJob, job } from './jobs.ts'
import { replication, scheduling } from './replication.ts'
import { create, get, list, status } from './requests.ts'
import { crowds, idles } from './simulated-nodes.ts'
import { coldStart, memoryAtRest } from './start.ts'
import { type Benchmark, keeps, limitOf, type Measurement } from './support/benchmark.ts'
import { median, showFigure } from './support/figure.ts'
import { builtProgram, coracle, referenceServer, type Subject } from './support/server.ts'
import { printTable } from './support/table.ts'
import { cronDay } from './virtual-time.ts'
import { watchers } from './watchers.ts'

const benchmarks: readonly Benchmark[] = [
  coldStart,
  memoryAtRest,
  get,
  create,
  status,
  list,
  watchers,
  replication,
  scheduling,
  deployment,
  rollout,
  hollowRollout,
  deployments,
  job,
  hollowJob,
  cronDay,
  ...idles,
  ...crowds,
]

const { wanted, against } = readArguments()
execFileSync(process.execPath, [join(import.meta.dirname, '..', 'scripts', 'build.ts')], { stdio: 'inherit' })

const own = coracle('MEASURED', builtProgram)
const other = against === undefined ? undefined : coracle('OTHER', against)
const reference = referenceServer()
const compared = [other, reference].filter((subject) => subject !== undefined)
const columns = compared.flatMap(({ name }) => [name, 'RATIO'])
const rows: string[][] = [['WHAT', 'MEASURED', ...columns, 'BUDGET', '']]
for (const benchmark of benchmarks) {
  if (wanted.length > 0 && !wanted.includes(benchmark.name)) continue
  process.stderr.write(`measuring ${benchmark.name} …\n`)
  try {
    const measured = await measureAll(benchmark, [own, ...compared])
    const measuredRows = benchmark.rows.map((row, index) => tableRow(row, measured, index))
    for (const row of measuredRows) process.stderr.write(`  ${row.join('  ')}\n`)
    rows.push(...measuredRows)
  } catch (error) {
    // What was measured before is not lost.
    console.error(
      `error: ${benchmark.name} could not be measured: ${error instanceof Error ? error.message : String(error)}`,
    )
    process.exitCode = 1
  }
}
printTable(rows)

function readArguments(): { readonly wanted: readonly string[]; readonly against: string | undefined } {
  const usage = `usage: npm run bench -- [--against PROGRAM] [NAME]…\n\nbenchmarks:\n${benchmarks.map(({ name }) => `  ${name}`).join('\n')}`
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { against: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
    })
    if (values.help) {
      console.log(usage)
      process.exit(0)
    }
    const unknown = positionals.filter((wanted) => !benchmarks.some(({ name }) => name === wanted))
    if (unknown.length > 0) throw new Error(`no benchmark named ${unknown.join(', ')}`)
    return { wanted: positionals, against: values.against }
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exit(2)
  }
}

/** What each subject shows in the rounds of a benchmark. They take turns, so that what else the machine does hits them alike. */
async function measureAll(
  benchmark: Benchmark,
  subjects: readonly Subject[],
): Promise<ReadonlyMap<Subject, readonly Measurement[]>> {
  const taking = subjects.filter((subject) => subject !== reference || !benchmark.needsOwnServer)
  const rounds = new Map<Subject, (readonly Measurement[])[]>(taking.map((subject) => [subject, []]))
  for (let round = 0; round < benchmark.rounds; round += 1) {
    for (const [subject, measured] of rounds) measured.push(await benchmark.measure(subject))
  }
  return new Map(
    [...rounds].map(([subject, measured]) => [subject, benchmark.rows.map((_row, at) => middle(measured, at))]),
  )
}

/** Of the rounds' measurements of one row the one in the middle. */
function middle(rounds: readonly (readonly Measurement[])[], at: number): Measurement {
  const measurements = rounds.map((round) => round[at]).filter((each) => each !== undefined)
  const value = median(measurements.map((each) => each.figure.value))
  const found = measurements.find((each) => each.figure.value === value)
  if (found === undefined) throw new Error('a benchmark measured nothing')
  return found
}

function tableRow(
  { what, budget }: Benchmark['rows'][number],
  measured: ReadonlyMap<Subject, readonly Measurement[]>,
  at: number,
): string[] {
  const of = (subject: Subject | undefined) => (subject === undefined ? undefined : measured.get(subject)?.[at])
  const mine = of(own)
  if (mine === undefined) throw new Error(`${what} was not measured`)
  const comparisons = compared.flatMap((subject) => {
    const theirs = of(subject)
    if (theirs === undefined) return ['-', '-']
    return [show(theirs), (mine.figure.value / theirs.figure.value).toFixed(2)]
  })
  const wanted = limitOf(budget, of(reference)?.figure)
  const shown = 'ratio' in budget ? `${showFigure(wanted)} (${budget.ratio} of upstream)` : showFigure(wanted)
  return [what, show(mine), ...comparisons, shown, keeps(mine.figure, wanted) ? 'ok' : 'over budget']
}

function show({ figure, beside = [] }: Measurement): string {
  return [figure, ...beside].map(showFigure).join(', ')
}
