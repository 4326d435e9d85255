/**
 * `npm run mutate [-- AREA|FILE…]`: changes the code in small ways, one at a time, and runs the tests that reach the
 * change. Prints the changes no test noticed, and for each area the share that was noticed. A file may carry lines:
 * `packages/store/src/journal.ts:40-80`. Exits 1 when an area is below `scoreMin`.
 */
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { LogLevel, MutantResult } from '@stryker-mutator/api/core'
import { Stryker } from '@stryker-mutator/core'
import { areaOf, areas, scoreMin, testsVariable } from './areas.ts'

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in areas) && !name.includes('/'))
if (unknown.length > 0) {
  console.error(`no area named ${unknown.join(', ')}; there are ${Object.keys(areas).join(', ')}, or name a file`)
  process.exit(1)
}

const rows = [['AREA', 'MUTANTS', 'KILLED', 'TIMED OUT', 'SURVIVED', 'NOT REACHED', 'SCORE', '']]
let isBelow = false
for (const name of wanted.length > 0 ? wanted : Object.keys(areas)) {
  const { mutate: globs = [name], tests } = areas[name] ?? { ...areaOf(name), mutate: [name] }
  const mutants = await mutate(globs, tests)
  for (const mutant of mutants) if (isUnnoticed(mutant)) console.log(describe(mutant))
  const count = (status: MutantResult['status']) => mutants.filter((mutant) => mutant.status === status).length
  const [killed, timedOut, survived, notReached] = [
    count('Killed'),
    count('Timeout'),
    count('Survived'),
    count('NoCoverage'),
  ]
  const judged = killed + timedOut + survived + notReached
  const score = judged === 0 ? 100 : ((killed + timedOut) / judged) * 100
  if (score < scoreMin) isBelow = true
  rows.push([
    name,
    ...[judged, killed, timedOut, survived, notReached].map(String),
    `${score.toFixed(1)} %`,
    score < scoreMin ? `below ${scoreMin} %` : 'ok',
  ])
}
console.log(`\n${table(rows)}`)
process.exit(isBelow ? 1 : 0)

async function mutate(globs: readonly string[], tests: readonly string[] | undefined): Promise<MutantResult[]> {
  if (tests === undefined) delete process.env[testsVariable]
  else process.env[testsVariable] = tests.join(' ')
  const stryker = new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    mutate: [...globs],
    vitest: { configFile: 'scripts/mutation/vitest.config.ts' },
    coverageAnalysis: 'perTest',
    ignorePatterns: ['conformance', 'torture', 'bench', 'docs', 'dist', 'coverage'],
    // Beyond what the tests take, a mutant that does not end is given this long.
    timeoutMS: 4000,
    // TypeScript 7 has no library for Stryker to rewrite a tsconfig with, and here nothing needs rewriting.
    tsconfigFile: 'none',
    tempDirName: join(tmpdir(), `coracle-mutation-${process.pid}`),
    reporters: [process.stderr.isTTY ? 'progress' : 'progress-append-only'],
    logLevel: 'warn' as LogLevel,
  })
  const mutants = await stryker.runMutationTest()
  // A version of Stryker that names tests otherwise than Vitest runs few or none of them, and every mutant seems to survive.
  const unjudged = mutants.find(
    ({ status, coveredBy, testsCompleted }) =>
      status === 'Survived' && (testsCompleted ?? 0) < (coveredBy?.length ?? 0),
  )
  if (unjudged !== undefined) {
    throw new Error(`${describe(unjudged)}: only ${unjudged.testsCompleted} of ${unjudged.coveredBy?.length} tests ran`)
  }
  return mutants
}

function isUnnoticed({ status }: MutantResult): boolean {
  return status === 'Survived' || status === 'NoCoverage'
}

/** `FILE:LINE:COLUMN survived: ORIGINAL → REPLACEMENT`, each side on one line. */
function describe({ fileName, location, replacement, status }: MutantResult): string {
  const { start, end } = location
  const lines = readFileSync(fileName, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line)
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column - 1) ?? ''
  const original = lines.join('\n').slice(start.column - 1)
  const place = `${relative(process.cwd(), fileName)}:${start.line}:${start.column}`
  return `${place} ${status === 'Survived' ? 'survived' : 'not reached'}: ${oneLine(original)} → ${oneLine(replacement ?? '')}`
}

function oneLine(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

function table(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
