import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { runProgram } from '../../packages/cli/src/run-program.ts'
import { runCommand } from '../../packages/cli/src/testing/recording-host.ts'
import { Api, makeNamespace } from './api.ts'
import { sayingEvents, withoutNewsOf136 } from './news-of-136.ts'
import { eventually, type Outcome, type Program } from './program.ts'

/** What commands that open an editor open: it changes whatever says `old`. */
const editor = 'sed -i s/old/new/'

/** Files in which commands keep what was edited and not saved. */
const editedFiles = /\/\S*coracle-edit-\d+\.\w+/g

/** Each has a node of its own, too: `{node}` in a command line. */
const nodes = { theirs: 'node-0', ours: 'node-1' } as const

/**
 * A command line, or one with what it reads from standard input. Of one that follows something, only the end is compared; of one that
 * shows usage, amounts are not; of one that goes through logs in no order, neither is the order of lines. One with `shows` is repeated until both show it.
 */
export type Step =
  | string
  | readonly [string, string]
  | { readonly follow: string }
  | { readonly usage: string }
  | { readonly inAnyOrder: string }
  | { readonly until: string; readonly shows: RegExp }

/** Words of a command line; quotes keep spaces, and what follows `ARG:` is one word, quotes and all. */
function words(line: string): readonly string[] {
  const [head = '', last] = line.split(' ARG:', 2)
  const all = (head.match(/('[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ''))
  return last === undefined ? all : [...all, line.slice(head.length + ' ARG:'.length)]
}

const lastLine = (text: string): string | undefined => text.trimEnd().split('\n').at(-1)

/**
 * A test for each scenario: its steps by kubectl and by coracle, side by side, with nothing to tell them apart. `variables` are of the
 * environment of both.
 */
export function compareScenarios(
  program: () => Program,
  scenarios: Readonly<Record<string, readonly Step[]>>,
  variables: Readonly<Record<string, string>> = {},
): void {
  for (const [index, [name, steps]] of Object.entries(scenarios).entries()) {
    it(name, async () => {
      const twins = await Twins.in(program(), `twin-${index}`)
      const ours: unknown[] = []
      const theirs: unknown[] = []
      for (const step of steps) {
        if (typeof step === 'object' && 'until' in step) {
          const { until, shows } = step
          const areShown = ({ ours, theirs }: TwinOutcome) => shows.test(ours.stdout) && shows.test(theirs.stdout)
          await eventually(`${until} shows ${shows}`, async () =>
            areShown(await twins.run(words(until), '', variables)),
          )
          continue
        }
        const [line, input] = lineOf(step)
        const outcome = await twins.run(words(line), input, variables)
        ours.push([line, shown(step, outcome.ours)])
        theirs.push([line, shown(step, outcome.theirs)])
      }
      expect(ours).toEqual(theirs)
    }, 180_000)
  }
}

type Comparison = Exclude<Step, { readonly until: string }>

function lineOf(step: Comparison): readonly [string, string] {
  if (typeof step === 'string') return [step, '']
  if ('follow' in step) return [step.follow, '']
  if ('inAnyOrder' in step) return [step.inAnyOrder, '']
  return 'usage' in step ? [step.usage, ''] : step
}

/** What is compared of an outcome. */
function shown(step: Comparison, outcome: Outcome): object {
  if (typeof step === 'string') return outcome
  if ('follow' in step) return { ...outcome, stdout: lastLine(outcome.stdout) }
  if ('inAnyOrder' in step) return { ...outcome, stdout: outcome.stdout.split('\n').toSorted() }
  // Amounts differ from moment to moment, and by them the widths of columns.
  return 'usage' in step
    ? { ...outcome, stdout: outcome.stdout.replace(/\d+(m|Mi|%)/g, '0$1').replace(/ +/g, ' ') }
    : outcome
}

interface TwinOutcome {
  readonly ours: Outcome
  readonly theirs: Outcome
}

/** What says which namespace is meant: `-n`, or the context of the kubeconfig. */
type Placement = 'flag' | 'context'

/** The same command line by kubectl and by coracle, each in a namespace of its own where the same has been done before. */
export class Twins {
  readonly #program: Program
  readonly #placement: Placement
  readonly #theirs: string
  readonly #ours: string

  private constructor(program: Program, name: string, placement: Placement) {
    this.#program = program
    this.#placement = placement
    this.#theirs = `${name}-k`
    this.#ours = `${name}-c`
  }

  static async in(program: Program, name: string, placement: Placement = 'flag'): Promise<Twins> {
    const twins = new Twins(program, name, placement)
    for (const namespace of twins.namespaces) await twins.#writeKubeconfig(namespace)
    const api = await Api.of(program)
    for (const namespace of [twins.#theirs, twins.#ours]) await makeNamespace(api, namespace)
    api.close()
    return twins
  }

  /** Those of kubectl and of coracle. */
  get namespaces(): readonly string[] {
    return [this.#theirs, this.#ours]
  }

  /**
   * Runs it both ways, and returns what came of each with all that may differ taken out: names of namespaces and programs, ages, versions.
   * `variables` are of the environment, beside what names the cluster.
   */
  async run(
    args: readonly string[],
    input = '',
    variables: Readonly<Record<string, string>> = {},
  ): Promise<TwinOutcome> {
    const line = args[0] === 'describe' ? sayingEvents(args) : args
    // `{namespace}` makes names of cluster-wide objects that each has for itself.
    const forTheirs = (text: string) => text.replaceAll('{node}', nodes.theirs).replaceAll('{namespace}', this.#theirs)
    const forOurs = (text: string) => text.replaceAll('{node}', nodes.ours).replaceAll('{namespace}', this.#ours)
    // An empty namespace is that of the context.
    const placement = args.includes('--namespace=') ? 'context' : this.#placement
    const environment = (text: (text: string) => string) => ({
      KUBECONFIG: placement === 'flag' ? this.#program.kubeconfig : this.#kubeconfigOf(text('{namespace}')),
      KUBE_EDITOR: editor,
      ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, text(value)])),
    })
    const place = (namespace: string) => (placement === 'flag' ? ['-n', namespace] : [])
    const theirs = await this.#program.kubectl([...place(this.#theirs), ...line.map(forTheirs)], {
      input: forTheirs(input),
      // It leaves files there.
      env: { ...environment(forTheirs), TMPDIR: this.#program.dataDir },
    })
    const ours = await runCommand([...place(this.#ours), ...line.map(forOurs)], {
      variables: { PATH: process.env.PATH ?? '', ...environment(forOurs) },
      runProgram,
      workingDirectory: process.cwd(),
      stdin: forOurs(input),
    })
    for (const [path] of ours.stderr.matchAll(editedFiles)) await rm(path)
    return { ours: this.#normal(ours, args), theirs: this.#normal(theirs, args) }
  }

  #kubeconfigOf(namespace: string): string {
    return join(this.#program.dataDir, `${namespace}.kubeconfig`)
  }

  async #writeKubeconfig(namespace: string): Promise<void> {
    const config = parse(await readFile(this.#program.kubeconfig, 'utf8'))
    for (const { context } of config.contexts) context.namespace = namespace
    await writeFile(this.#kubeconfigOf(namespace), JSON.stringify(config))
  }

  #normal({ code, stdout, stderr }: Outcome, line: readonly string[]): Outcome {
    return { code, stdout: this.#plain(stdout, line), stderr: this.#plain(stderr, line) }
  }

  #plain(text: string, line: readonly string[]): string {
    return (
      withoutNewsOf136(text, line)
        .replaceAll(this.#theirs, 'NAMESPACE')
        .replaceAll(this.#ours, 'NAMESPACE')
        .replaceAll(new RegExp(Object.values(nodes).join('|'), 'g'), 'NODE')
        .replaceAll('kubectl', 'coracle')
        // What kubectl's libraries log is not what kubectl says; that a set's parent is taken from others it logs too.
        .replace(/^([IWE]\d{4} |Warning: failed to update ApplySet: ).*\n/gm, '')
        .replace(/^See 'coracle .*' for help and examples\n/gm, '')
        .replace(/\b(\d+(s|ms|m|h))+\b *|\bAGE\b */g, 'AGE ')
        .replace(/(resource ?version\W{1,8}|expected resource version to be \S+, was )\d+/gi, '$1VERSION')
        .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
        // A hash of what names the parent of a set, and the version of what wrote it.
        .replace(/\bapplyset-[-\w]{43}-v1\b/g, 'SET')
        .replace(/(applyset\S+\/tooling: coracle\/)\S+/g, '$1VERSION')
        .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [-+]\d{4}/g, 'TIME')
        .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [-+]\d{4} \w+/g, 'TIME')
        // Files that an editor had open.
        .replace(/\/\S*coracle-edit-\d+/g, 'EDITED')
        // Directories that are compared, and when their files were written.
        .replace(/\/tmp\/\S*(LIVE|MERGED)[-\w]*/g, '$1')
        .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [-+]\d{4}/g, 'TIME')
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
        .replace(/[ \t]+$/gm, '')
    )
  }
}
