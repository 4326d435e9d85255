import { randomInt } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CliError, SilentError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { readManifests } from '../manifests/parse-manifests.ts'
import { goJson } from '../output/go-json.ts'

/** Why the editor opens again, as comments above the text. */
export interface Reopening {
  readonly head: string
  readonly details?: readonly string[]
}

/** A text to edit, and what becomes of it. */
export interface EditedText {
  readonly text: string
  /** What stands above it, as comments. JSON has none. */
  readonly introduction?: string
  readonly format: 'yaml' | 'json'
  readonly windowsLineEndings?: boolean
  /** Why what was saved cannot be judged at all; undefined where it can. */
  readonly problemOf?: (text: string) => Reopening | undefined
  /**
   * Takes what was saved in a file, without the comments. For what it returns the editor opens again. Where it rejects, the file stays, and
   * is named unless the error is silent.
   */
  save(text: string, path: string): Promise<readonly Reopening[]>
}

const usualIntroduction = `# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
`

/**
 * Opens a text in the editor that KUBE_EDITOR or EDITOR names, or vi, until it is saved as `save` takes it, or left as it
 * was, or empty, which is told. What was refused and is left as it is stays in a file, which is named.
 */
export async function editText(host: Host, edited: EditedText): Promise<void> {
  const { text: original, introduction = usualIntroduction, format, windowsLineEndings = false, save } = edited
  const { problemOf = () => undefined } = edited
  let text = original
  let reasons: readonly Reopening[] = []
  let former: string | undefined
  for (;;) {
    const shown = format === 'yaml' ? introduction + reasons.map(commentOf).join('') + text : text
    const path = join(tmpdir(), `coracle-edit-${randomInt(2 ** 32)}.${format}`)
    await writeFile(path, windowsLineEndings ? shown.replaceAll('\n', '\r\n') : shown, { mode: 0o600, flag: 'wx' })
    await keeping(host, former, () => runEditor(host, path)).catch(async (error: unknown) => {
      await rm(path, { force: true })
      throw error
    })
    const saved = withoutComments((await readFile(path, 'utf8')).replaceAll('\r\n', '\n'))
    const isAgain = former !== undefined
    if (former !== undefined) await rm(former, { force: true })
    former = path
    if (isAgain && contentOf(saved) === contentOf(text)) {
      await keeping(host, path, () => Promise.reject(new CliError('Edit cancelled, no valid changes were saved.')))
    }
    const problem = problemOf(saved)
    if (problem === undefined && (contentOf(saved) === contentOf(original) || saved.trim() === '')) {
      host.stderr.write(`Edit cancelled, ${saved.trim() === '' ? 'saved file was empty' : 'no changes made'}.\n`)
      return rm(path, { force: true })
    }
    reasons = problem === undefined ? await keeping(host, path, () => save(saved, path)) : [problem]
    if (reasons.length === 0) return rm(path, { force: true })
    text = saved
  }
}

/** Does something; where that rejects, tells which file has the changes that were made. */
async function keeping<R>({ stderr }: Host, path: string | undefined, act: () => Promise<R>): Promise<R> {
  try {
    return await act()
  } catch (error) {
    if (path !== undefined && !(error instanceof SilentError)) {
      stderr.write(`A copy of your changes has been stored to ${JSON.stringify(path)}\n`)
    }
    throw error
  }
}

function commentOf({ head, details = [] }: Reopening): string {
  const lines = [`${head}${details.length > 0 ? ':' : ''}`, ...details.map((each) => `* ${each}`)]
  return `${lines.map((line) => `# ${line.replaceAll('\n', '\n# ')}\n`).join('')}#\n`
}

const withoutComments = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')

/** What a text says, however it is written; the text itself where that cannot be read. */
function contentOf(text: string): string {
  const { manifests, failures } = readManifests(text, '')
  return failures.length > 0 || manifests.length === 0 ? text : goJson(manifests.map(({ object }) => object))
}

/** Rejects with a CliError where the editor cannot be started, or fails. */
async function runEditor({ runProgram, variables }: Host, path: string): Promise<void> {
  const editor = variables.KUBE_EDITOR || variables.EDITOR || 'vi'
  // The variable may hold arguments too, as in `code --wait`; quotes among them are for a shell to read.
  const isForShell = editor.includes(' ') && /["'\\]/.test(editor)
  const words = isForShell ? [variables.SHELL || '/bin/bash', '-c', editor] : editor.split(' ')
  const [command = '', ...args] = isForShell ? words.with(-1, `${editor} ${JSON.stringify(path)}`) : [...words, path]
  const told = JSON.stringify(words.join(' '))
  const { code } = await runProgram(command, args, false).catch(() => {
    throw new CliError(`unable to launch the editor ${told}`)
  })
  if (code !== 0) throw new CliError(`there was a problem with the editor ${told}`)
}
