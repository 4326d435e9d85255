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
export interface EditedText {
  /** The name of the file is made of it. */
  readonly name: string
  /** What it is, for messages: `configmaps "web"`. */
  readonly subject: string
  readonly text: string
  /** JSON has no comments, and so nothing says above it what to do. */
  readonly format: 'yaml' | 'json'
  readonly windowsLineEndings?: boolean
  /** Takes what was saved, without the comments. Where it rejects, the editor opens again, with why. */
  save(text: string): Promise<void>
}

/**
 * Opens a text in the editor that KUBE_EDITOR or EDITOR names, or vi, until it is saved as `save` takes it, or left as it
 * was, or empty, which is told. Rejects with a CliError that names the file with the changes where those that were refused
 * are left as they are.
 */
export async function editText(host: Host, edited: EditedText): Promise<void> {
  const { name, subject, text: original, format, windowsLineEndings = false, save } = edited
  const directory = await mkdtemp(join(tmpdir(), 'coracle-edit-'))
  const path = join(directory, `${name.replaceAll('/', '_')}.${format}`)
  let comments = introduction
  let text = original
  for (;;) {
    const shown = format === 'yaml' ? comments + text : text
    await writeFile(path, windowsLineEndings ? shown.replaceAll('\n', '\r\n') : shown, { mode: 0o600 })
    await runEditor(host, path)
    const saved = withoutComments((await readFile(path, 'utf8')).replaceAll('\r\n', '\n'))
    if (comments !== introduction && saved === withoutComments(text)) {
      throw new CliError(`Edit cancelled, no valid changes were saved: your changes are in ${path}`)
    }
    if (saved === withoutComments(original) || saved.trim() === '') {
      host.stderr.write(`Edit cancelled, ${saved.trim() === '' ? 'saved file was empty' : 'no changes made'}.\n`)
      break
    }
    try {
      await save(saved)
      break
    } catch (error) {
      const problems = describeError(error).split('\n')
      const told = [`${subject} was not valid:`, ...problems.map((each) => `* ${each}`)]
      if (format === 'json') host.stderr.write(`${told.join('\n')}\n`)
      comments = `${introduction}${told.map((line) => `# ${line}\n`).join('')}#\n`
      text = saved
    }
  }
  await rm(directory, { recursive: true, force: true })
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
