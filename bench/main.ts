/** `npm run bench [-- NAME…]`: measures the bundled program and prints a table. See README.md. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { collectAlone, createAlone, replicationCollect, replicationCreate, replicationReady } from './replication.ts'
import { create, get, list } from './requests.ts'
import { coldStart, memoryAtRest } from './start.ts'
import { type Benchmark, keepsBudget, limitOf, showFigure } from './support/benchmark.ts'
import { referenceTarget } from './support/server.ts'
import { printTable } from './support/table.ts'

const benchmarks: readonly Benchmark[] = [
  coldStart,
  memoryAtRest,
  createAlone,
  collectAlone,
  replicationCreate,
  replicationReady,
  replicationCollect,
  get,
  create,
  list,
]

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !benchmarks.some((benchmark) => benchmark.name === name))
if (unknown.length > 0) {
  console.error(`no benchmark named ${unknown.join(', ')}; there are ${benchmarks.map(({ name }) => name).join(', ')}`)
  process.exit(1)
}

execFileSync(process.execPath, [join(import.meta.dirname, '..', 'scripts', 'build.ts')], { stdio: 'inherit' })

const reference = referenceTarget()
/** How long a reference server is left alone after it was measured. */
const settleMs = 10_000
const rows: string[][] = [['WHAT', 'BUDGET', 'MEASURED', ...(reference ? ['REFERENCE', 'RATIO', 'NEEDED'] : []), '']]
for (const benchmark of benchmarks) {
  if (wanted.length > 0 && !wanted.includes(benchmark.name)) continue
  process.stderr.write(`measuring ${benchmark.name} …\n`)
  const measured = await benchmark.measure()
  const row = [benchmark.what, showFigure(benchmark.budget), showFigure(measured)]
  const other = reference === undefined ? undefined : await benchmark.measureReference?.(reference)
  // A server goes on working after it has answered, which must not be measured as the next one's.
  if (other !== undefined) await new Promise((resolve) => setTimeout(resolve, settleMs))
  const limit = limitOf(benchmark, other)
  if (reference !== undefined) {
    const ratios = [measured, limit].map(({ value }) => (other ? (value / other.value).toFixed(2) : '-'))
    row.push(other ? showFigure(other) : '-', ...ratios)
  }
  rows.push([...row, keepsBudget(measured, limit) ? 'ok' : 'over budget'])
}

printTable(rows)
