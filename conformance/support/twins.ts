import { runCommand } from '../../packages/cli/src/testing/recording-host.ts'
import type { Outcome, Program } from './program.ts'

/** Each has a node of its own, too: `{node}` in a command line. */
const nodes = { theirs: 'node-0', ours: 'node-1' } as const

const withNode = (args: readonly string[], node: string): readonly string[] =>
  args.map((arg) => arg.replaceAll('{node}', node))

/** The same command line by kubectl and by coracle, each in a namespace of its own where the same has been done before. */
export class Twins {
  readonly #program: Program
  readonly #theirs: string
  readonly #ours: string

  private constructor(program: Program, name: string) {
    this.#program = program
    this.#theirs = `${name}-k`
    this.#ours = `${name}-c`
  }

  static async in(program: Program, name: string): Promise<Twins> {
    const twins = new Twins(program, name)
    for (const namespace of [twins.#theirs, twins.#ours]) await program.kubectlOk(['create', 'namespace', namespace])
    return twins
  }

  /** Runs it both ways, and returns what came of each with all that may differ taken out: names of namespaces and programs, ages, versions. */
  async run(args: readonly string[], input = ''): Promise<{ readonly ours: Outcome; readonly theirs: Outcome }> {
    const theirs = await this.#program.kubectl(['-n', this.#theirs, ...withNode(args, nodes.theirs)], {
      input: input.replaceAll('{node}', nodes.theirs),
    })
    const ours = await runCommand(['-n', this.#ours, ...withNode(args, nodes.ours)], {
      variables: { KUBECONFIG: this.#program.kubeconfig },
      workingDirectory: process.cwd(),
      stdin: input.replaceAll('{node}', nodes.ours),
    })
    return { ours: this.#normal(ours), theirs: this.#normal(theirs) }
  }

  #normal({ code, stdout, stderr }: Outcome): Outcome {
    return { code, stdout: this.#plain(stdout), stderr: this.#plain(stderr) }
  }

  #plain(text: string): string {
    return (
      text
        .replaceAll(this.#theirs, 'NAMESPACE')
        .replaceAll(this.#ours, 'NAMESPACE')
        .replaceAll(new RegExp(Object.values(nodes).join('|'), 'g'), 'NODE')
        .replaceAll('kubectl', 'coracle')
        // What kubectl's libraries log is not what kubectl says.
        .replace(/^[IWE]\d{4} .*\n/gm, '')
        .replace(/^See 'coracle .*' for help and examples\n/gm, '')
        .replace(/\b(\d+(s|ms|m|h))+\b *|\bAGE\b */g, 'AGE ')
        .replace(/(resourceVersion\W{1,6}|expected resource version to be \d+, was )\d+/gi, '$1VERSION')
        .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
        .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [-+]\d{4}/g, 'TIME')
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
        .replace(/[ \t]+$/gm, '')
    )
  }
}
