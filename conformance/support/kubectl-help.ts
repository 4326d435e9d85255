import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
  const texts = await HelpTexts.of((await tools()).kubectl)
  const help = (args: readonly string[]) => texts.of(args)
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
  await texts.keep()
  return commands
}

/** What kubectl prints as help, kept beside it: it is asked some hundred times for all of it, and that takes seconds. */
class HelpTexts {
  readonly #kubectl: string
  readonly #file: string
  readonly #texts: Map<string, string>
  #isKept = true

  private constructor(kubectl: string, file: string, texts: Map<string, string>) {
    this.#kubectl = kubectl
    this.#file = file
    this.#texts = texts
  }

  static async of(kubectl: string): Promise<HelpTexts> {
    const { size, mtimeMs } = await stat(kubectl)
    const file = join(dirname(kubectl), `help-${size}-${Math.trunc(mtimeMs)}.json`)
    const kept = await readFile(file, 'utf8').catch(() => '[]')
    return new HelpTexts(kubectl, file, new Map(JSON.parse(kept) as [string, string][]))
  }

  async of(args: readonly string[]): Promise<string> {
    const key = args.join(' ')
    const kept = this.#texts.get(key)
    if (kept !== undefined) return kept
    const { stdout } = await run(this.#kubectl, args, { env: { GOGC: 'off' } })
    this.#texts.set(key, stdout)
    this.#isKept = false
    return stdout
  }

  /** Writes down what was not there yet. Another worker may be doing the same: either file will do. */
  async keep(): Promise<void> {
    if (this.#isKept) return
    const partial = `${this.#file}.${process.pid}`
    await writeFile(partial, JSON.stringify([...this.#texts]))
    await rename(partial, this.#file)
  }
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
