import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { JsonPathError, parseJsonPath, type Template } from '@coracle/api/jsonpath'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { splitOnce } from '../split-once.ts'
import { type Column, parseColumns, parseColumnsFile } from './custom-columns.ts'
import type { GoTemplate } from './go-template/index.ts'

/** What `-o` asks for. Absent and `wide` are tables. */
export type OutputFormat =
  | { readonly type: 'table'; readonly wide: boolean }
  | { readonly type: 'json' | 'kyaml' | 'yaml' | 'name' }
  | {
      readonly type: 'jsonpath'
      readonly text: string
      /** Or what is wrong with it, where that is told when it is executed. */
      readonly template: Template | JsonPathError
      readonly asJson: boolean
    }
  | { readonly type: 'go-template'; readonly template: GoTemplate }
  | { readonly type: 'custom-columns'; readonly columns: readonly Column[] }

const plainFormats = ['json', 'kyaml', 'yaml', 'name'] as const
const jsonPathFormats = ['jsonpath', 'jsonpath-as-json', 'jsonpath-file']
const goTemplateFormats = ['go-template', 'go-template-file', 'template', 'templatefile']
const columnFormats = ['custom-columns', 'custom-columns-file']

/** The flags that say how objects are printed. */
export interface OutputFormatFlags {
  readonly output?: string
  /** A template, or the file with it, where `-o` names only the language. */
  readonly template?: string
}

/**
 * Reads the value of `-o`, and the file it may name. Tables and their columns are there for commands that list.
 * Rejects with a CliError, in kubectl's words, where it is no format or its template is malformed.
 */
export async function readOutputFormat(
  host: Pick<Host, 'workingDirectory'>,
  { output, template }: OutputFormatFlags,
  { tables }: { readonly tables: boolean },
): Promise<OutputFormat | undefined> {
  // Who lists takes an empty format for none; who says what was done takes it for words, a template beside it or not.
  const given = tables ? output || undefined : output
  const text = given ?? (template ? 'go-template' : '')
  if (text === '') return tables ? { type: 'table', wide: false } : undefined
  const plain = plainFormats.find((format) => format === text.toLowerCase())
  if (plain !== undefined) return { type: plain }
  if (tables && text === 'wide') return { type: 'table', wide: true }
  // A template of its own flag leaves the format no room for another.
  const [name = '', argument = undefined] = template ? [text, template] : splitOnce(text, '=')
  if (jsonPathFormats.includes(name)) return jsonPathFormat(host, name, argument)
  if (goTemplateFormats.includes(name)) return goTemplateFormat(host, name, argument)
  if (tables && columnFormats.includes(name)) return columnsFormat(host, name, argument)
  const allowed = [
    ...plainFormats,
    ...jsonPathFormats,
    ...goTemplateFormats,
    ...(tables ? [...columnFormats, 'wide'] : []),
  ].sort()
  throw new CliError(
    `unable to match a printer suitable for the output format ${JSON.stringify(text)}, allowed formats are: ${allowed.join(',')}`,
  )
}

/**
 * The same where `-o` was given: kubectl takes an empty format for that of names, where it looks only whether there was one. Undefined
 * where none was given; a template alone asks for nothing there.
 */
export async function readGivenFormat(
  host: Pick<Host, 'workingDirectory'>,
  flags: OutputFormatFlags,
): Promise<OutputFormat | undefined> {
  if (flags.output === undefined) return undefined
  return (await readOutputFormat(host, flags, { tables: false })) ?? { type: 'name' }
}

/** Whether what is wrong with a template is seen by kubectl only where it is executed. */
export const isSeenLate = (why: string): boolean => /^(?:unrecognized identifier|not in range)/.test(why)

async function jsonPathFormat(
  host: Pick<Host, 'workingDirectory'>,
  name: string,
  argument: string | undefined,
): Promise<OutputFormat> {
  if (argument === undefined || argument === '') throw new CliError('template format specified but no template given')
  const text = name === 'jsonpath-file' ? await readTemplate(host, argument, '--template') : argument
  return { type: 'jsonpath', text, template: readJsonPath(text), asJson: name === 'jsonpath-as-json' }
}

function readJsonPath(text: string): Template | JsonPathError {
  try {
    return parseJsonPath(text)
  } catch (error) {
    if (error instanceof JsonPathError && isSeenLate(error.message)) return error
    throw new CliError(`error parsing jsonpath ${text}, ${error instanceof Error ? error.message : error}`)
  }
}

async function goTemplateFormat(
  host: Pick<Host, 'workingDirectory'>,
  name: string,
  argument: string | undefined,
): Promise<OutputFormat> {
  if (argument === undefined || argument === '') throw new CliError('template format specified but no template given')
  const text = name.endsWith('file') ? await readTemplate(host, argument, '--template') : argument
  const { parseGoTemplate } = await import('./go-template/index.ts')
  try {
    return { type: 'go-template', template: parseGoTemplate(text) }
  } catch (error) {
    throw new CliError(`error parsing template ${text}, ${error instanceof Error ? error.message : error}`)
  }
}

async function columnsFormat(
  host: Pick<Host, 'workingDirectory'>,
  name: string,
  argument: string | undefined,
): Promise<OutputFormat> {
  if (argument === undefined || argument === '') {
    throw new CliError('custom-columns format specified but no custom columns given')
  }
  const columns =
    name === 'custom-columns'
      ? parseColumns(argument)
      : parseColumnsFile(await readTemplate(host, argument, 'template'))
  return { type: 'custom-columns', columns }
}

async function readTemplate(host: Pick<Host, 'workingDirectory'>, path: string, what: string): Promise<string> {
  return readFile(resolve(host.workingDirectory, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'no such file or directory' : error.message
    throw new CliError(`error reading ${what} ${path}, open ${path}: ${reason}`)
  })
}
