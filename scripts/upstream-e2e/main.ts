/**
 * `npm run upstream:e2e -- --binary PATH [--focus RE]`: runs upstream's end-to-end specs against a cluster of simulated nodes that it
 * starts, and prints which failed. The lists of inapplicable specs say which it leaves out, and why. Exits 1 where one of the others failed.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startCluster } from '@coracle/cluster'
import { asSpecified, endingTasks, withoutImages } from '@coracle/cluster/simulated'
import { type Choice, chooseSpecs, groupsOf } from './choose.ts'
import { generationOf } from './generation.ts'
import { parseOptions, type RunOptions, usage } from './options.ts'
import { type SpecResult, specNamesOf } from './reports.ts'
import { runGroups } from './run-specs.ts'
import { waitingImages } from './waiting-images.ts'

const nodes = 3
/** Containers that are there to end do so after this long, as those of `coracle up`. */
const taskRunTimeMs = 2000
/** Starting a process costs about a second: it is shared by so many specs. */
const groupSize = 8
/** How a result is told. */
const words = { passed: 'passed', failed: 'FAILED', skipped: 'skipped itself' } as const

const options = readOptions()
const generation = generationOf(execFileSync(resolve(options.binary), ['--version'], { encoding: 'utf8' }))
const directory = mkdtempSync(join(tmpdir(), 'upstream-e2e-'))
try {
  const choice = chooseSpecs(specsIn(resolve(options.binary)), options, generation.inapplicable)
  if (options.list) list(choice)
  else process.exitCode = (await run(choice)) ? 0 : 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function readOptions(): RunOptions {
  try {
    return parseOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exit(1)
  }
}

/** The names of all specs, of a run in which none is carried out. */
function specsIn(binary: string): readonly string[] {
  const report = join(directory, 'all')
  execFileSync(binary, [generation.dryRunFlag, '--provider=skeleton', `--report-dir=${report}`], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  return specNamesOf(readFileSync(join(report, 'junit_01.xml'), 'utf8'))
}

function list({ parallel, serial, leftOut }: Choice): void {
  for (const name of [...parallel, ...serial]) console.log(`RUN  ${name}`)
  for (const { name, reason } of leftOut) console.log(`LEFT ${name}: ${reason}`)
}

/** Whether all of them passed. */
async function run({ parallel, serial, leftOut }: Choice): Promise<boolean> {
  const { binary, kubectl, workers } = options
  const logs = options.logs === undefined ? undefined : resolve(options.logs)
  if (logs !== undefined) mkdirSync(logs, { recursive: true })
  const total = parallel.length + serial.length
  const results: SpecResult[] = []
  const cluster = await startCluster({
    dataDir: join(directory, 'data'),
    store: 'memory',
    runtime: 'simulated',
    nodes,
    behaviour: withoutImages(generation.missingImages, asSpecified(waitingImages(endingTasks(taskRunTimeMs)))),
    formerVersions: generation.formerVersions,
    loadBalancerAddresses: 'nodes',
  })
  try {
    const specRun = {
      binary: resolve(binary),
      generation,
      kubectl: kubectl === undefined ? undefined : resolve(kubectl),
      kubeconfig: join(directory, 'data', 'kubeconfig'),
      nodes,
      directory,
      logs,
      onResult(result: SpecResult) {
        results.push(result)
        console.log(`${results.length}/${total} ${words[result.outcome]} ${result.name}`)
      },
    }
    await runGroups(groupsOf(parallel, groupSize), workers, 'parallel', specRun)
    await runGroups(groupsOf(serial, groupSize), 1, 'serial', specRun)
  } finally {
    await cluster.stop()
  }
  const failed = results.filter(({ outcome }) => outcome === 'failed')
  const skipped = results.filter(({ outcome }) => outcome === 'skipped')
  for (const { name, reason } of skipped) console.log(`\nSKIPPED ITSELF ${name}\n  ${reason}`)
  for (const { name, reason } of failed) console.log(`\nFAILED ${name}\n  ${reason}`)
  const passed = total - failed.length - skipped.length
  console.log(
    `\n${passed} of ${total} passed, ${skipped.length} skipped themselves; ${leftOut.length} do not apply (--list says why)`,
  )
  return failed.length === 0
}
