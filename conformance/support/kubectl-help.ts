import { run } from './program.ts'
import { tools } from './tools.ts'

/** A flag as kubectl's help shows it. */
export interface KubectlFlag {
  readonly long: string
  readonly short: string | undefined
  /** As help writes it: `false`, `''`, `[]`, `'strict'`, `0s`. */
  readonly defaultText: string
}

/** A command of kubectl, by the words that call it; of the program itself, no words and the flags of all commands. */
export interface KubectlCommand {
  readonly words: readonly string[]
  readonly flags: readonly KubectlFlag[]
}

/** How many of kubectl run at the same time. */
const concurrency = 4

/** All commands of kubectl that its help names, save those below the ones to leave out. */
export async function kubectlCommands(leaveOut: ReadonlySet<string>): Promise<readonly KubectlCommand[]> {
  const { kubectl } = await tools()
  const help = async (args: readonly string[]) => (await run(kubectl, args)).stdout
  const commands: KubectlCommand[] = [{ words: [], flags: flagsOf(await help(['options'])) }]
  const queue = subcommandsOf(await help(['--help'])).map((word) => [word])
  const worker = async () => {
    for (let words = queue.shift(); words !== undefined; words = queue.shift()) {
      const text = await help([...words, '--help'])
      commands.push({ words, flags: flagsOf(text) })
      if (leaveOut.has(words.join(' '))) continue
      queue.push(...subcommandsOf(text).map((word) => [...(words ?? []), word]))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return commands
}

/** `    -A, --all-namespaces=false:` */
function flagsOf(help: string): readonly KubectlFlag[] {
  return [...help.matchAll(/^ {4}(?:(-\w), )?--([\w-]+)=(.*):$/gm)].map(([, short, long, defaultText = '']) => ({
    long: `--${long}`,
    short,
    defaultText,
  }))
}

/** The lines under headings that end in `Commands:` or `Commands (…):`. */
function subcommandsOf(help: string): readonly string[] {
  return [...help.matchAll(/^[A-Z].*Commands.*:\n((?: {2}\S.*\n)+)/gm)].flatMap(([, lines = '']) =>
    [...lines.matchAll(/^ {2}(\S+) /gm)].map(([, word = '']) => word),
  )
}
