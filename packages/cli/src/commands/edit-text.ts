import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CliError } from '../cli-error.ts'
import { describeError } from '../describe-error.ts'
import type { Host } from '../host.ts'

const introduction = `# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
`

/** A text to edit, and what becomes of it. */
export interface EditedText<R> {
  /** The name of the file is made of it. */
  readonly name: string
  /** What it is, for messages: `configmaps "web"`. */
  readonly subject: string
  readonly text: string
  /** Takes what was saved, without the comments. Where it rejects, the editor opens again, with why. */
  save(text: string): Promise<R>
}

/**
 * Opens a text in the editor that KUBE_EDITOR or EDITOR names, or vi, until it is saved as `save` takes it, or left as it
 * was: then undefined. Rejects with a CliError that names the file with the changes where those that were refused are left
 * as they are.
 */
export async function editText<R>(
  host: Host,
  { name, subject, text: original, save }: EditedText<R>,
): Promise<R | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'coracle-edit-'))
  const path = join(directory, `${name.replaceAll('/', '_')}.yaml`)
  let text = introduction + original
  for (;;) {
    await writeFile(path, text, { mode: 0o600 })
    await runEditor(host, path)
    const saved = await readFile(path, 'utf8')
    if (withoutComments(saved) === withoutComments(text)) {
      if (text === introduction + original) break
      throw new CliError(`Edit cancelled, no valid changes were saved: your changes are in ${path}`)
    }
    if (withoutComments(saved).trim() === '' || withoutComments(saved) === withoutComments(original)) break
    try {
      const written = await save(saved)
      await rm(directory, { recursive: true, force: true })
      return written
    } catch (error) {
      const problems = describeError(error).split('\n')
      const told = [`${subject} was not valid:`, ...problems.map((each) => `* ${each}`)]
      text = `${introduction}${told.map((line) => `# ${line}\n`).join('')}#\n${withoutComments(saved)}`
    }
  }
  await rm(directory, { recursive: true, force: true })
  return undefined
}

const withoutComments = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')

async function runEditor({ runProgram, variables }: Host, path: string): Promise<void> {
  const editor = variables.KUBE_EDITOR || variables.EDITOR || 'vi'
  // The variable may hold arguments too, as in `code --wait`.
  const { code } = await runProgram('sh', ['-c', `${editor} "$1"`, 'sh', path], false)
  if (code !== 0) throw new CliError(`there was a problem with the editor ${JSON.stringify(editor)}: exit code ${code}`)
}
