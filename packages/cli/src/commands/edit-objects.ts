import { deepEqual, type JsonObject, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { CliError, SilentError } from '../cli-error.ts'
import { causesOf, describePart, reasonOf } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { readManifests } from '../manifests/parse-manifests.ts'
import { serialize, withoutManagedFields } from '../output/serialize.ts'
import type { LateFlags } from '../refused-value.ts'
import type { Session } from '../session.ts'
import { editText, type Reopening } from './edit-text.ts'
import { fieldValidation, placeReadable, refusalsOf, wellPlaced } from './manifest-command.ts'

/** Flags of every command that opens an editor. */
export interface EditorFlags extends LateFlags {
  /** Also the form in which the editor shows objects: JSON, or else YAML. */
  readonly output?: string
  readonly windowsLineEndings?: boolean
  readonly validate: keyof typeof fieldValidation
}

/** Throws a CliError, in kubectl's words, where `-o` asks for what cannot be edited. */
export function checkEditorFlags(output: string | undefined): void {
  if (['', 'json', 'kyaml', 'yaml'].includes((output ?? '').toLowerCase())) return
  throw new CliError(
    `unable to match a printer suitable for the output format ${JSON.stringify(output)}, allowed formats are: json,kyaml,yaml`,
  )
}

/** An object to edit, or as it was saved in the editor. */
export interface Edited {
  readonly object: KubernetesObject
  readonly resource: DiscoveredResource
}

/** What becomes of objects that were edited. */
export interface EditActions<T> {
  /** What stands above them in the editor; the usual unless given. */
  readonly introduction?: string
  /** Saves what was changed. Other errors than CliErrors are told, and the other objects still saved, where `goesOn` is true. */
  readonly save: (target: T, before: KubernetesObject, after: Edited) => Promise<void>
  /** Says that of several objects this one was left as it was. */
  readonly skip: (after: Edited) => Promise<void>
  /** Whether the editor opens again with what the server calls invalid. */
  readonly goesOn: boolean
}

/**
 * Opens objects in the editor, in one file, and saves each that is changed there, in kubectl's way. Rejects with a CliError where there are
 * none, or what is saved are not the same ones, and as `editText` does.
 */
export async function editObjects<T extends Edited>(
  host: Host,
  session: Session,
  targets: readonly T[],
  { output, windowsLineEndings = false, validate }: EditorFlags,
  { introduction, save, skip, goesOn }: EditActions<T>,
): Promise<void> {
  const shown = targets.map((target) => ({ target, before: withoutOwnership(target.object) }))
  const objects = shown.map(({ before }) => before)
  const [first, ...others] = objects
  const firstResource = targets[0]?.resource
  if (first === undefined || firstResource === undefined) throw new CliError('edit cancelled, no objects found')
  checkEditorFlags(output)
  const format = output?.toLowerCase() === 'json' ? 'json' : 'yaml'
  await editText(host, {
    ...(introduction === undefined ? {} : { introduction }),
    text: await serialize(others.length === 0 ? first : { apiVersion: 'v1', kind: 'List', items: objects }, format),
    format,
    windowsLineEndings,
    problemOf: problemOfText(host, validate, { resource: firstResource, object: first }),
    async save(text, path) {
      const edited = await readEdited(session, text)
      if ('head' in edited) return [edited]
      const errors: unknown[] = []
      const refusals: SaveRefusal[] = []
      for (const after of edited) {
        try {
          const { target, before } = originalOf(after.object, shown)
          await (deepEqual(before, after.object) ? skip(after) : save(target, before, after))
        } catch (error) {
          const isRefused = goesOn && !(error instanceof CliError)
          if (isRefused) refusals.push(refusalOf(after, error))
          else errors.push(error)
          if (isRefused) host.stderr.write(`error: ${refusals.at(-1)?.told}\n`)
        }
      }
      if (errors.length > 0) throw new AggregateError(errors)
      for (const { outcome } of refusals) if (outcome !== 'invalid') throw kept(host, outcome, path)
      return refusals.map(({ reopening }) => reopening)
    },
  })
}

/** The objects of an edited text; or why there are none, with which the editor opens again. Throws a CliError where they are in another namespace. */
export async function readEdited(session: Session, text: string): Promise<readonly Edited[] | Reopening> {
  const read = readManifests(text, 'edited-file')
  const { placed, failures } = await placeReadable({ ...session, givenNamespace: session.namespace }, read, {})
  if (failures.length > 0) {
    const problem = describePart(failures.length === 1 ? failures[0] : new AggregateError(failures))
    return { head: `The edited file had a syntax error: ${problem}` }
  }
  const [refusal] = refusalsOf(placed)
  if (refusal !== undefined) throw refusal
  // As they are written: what is left out there is left out by whoever has edited them.
  return wellPlaced(placed).map(({ resource, object }, index) => ({
    resource,
    object: read.manifests[index]?.object ?? object,
  }))
}

/** Why an object was not saved, and what becomes of that. */
interface SaveRefusal {
  readonly outcome: 'invalid' | 'not found' | 'to be tried again'
  readonly told: string
  readonly reopening: Reopening
}

function refusalOf(edited: Edited, error: unknown): SaveRefusal {
  const subject = subjectOf(edited)
  const details = causesOf(error).map(({ field = '', message = '' }) => `${field}: ${message}`)
  const reopening = { head: `${subject} was not valid`, details }
  const reason = reasonOf(error)
  if (reason === 'Invalid') return { outcome: 'invalid', told: `${subject} is invalid`, reopening }
  if (reason === 'NotFound') {
    return { outcome: 'not found', told: `${subject} could not be found on the server`, reopening }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { outcome: 'to be tried again', told: `${subject} could not be patched: ${message}`, reopening }
}

/** `deployments.apps "web"` */
const subjectOf = ({ resource: { plural, group }, object }: Edited): string =>
  `${plural}${group === '' ? '' : `.${group}`} ${JSON.stringify(object.metadata.name ?? '')}`

/** Says, unless nothing is to be validated, that a text holds no object: kubectl blames the first of those that were to be edited. */
export function problemOfText(
  { stderr }: Host,
  validate: EditorFlags['validate'],
  first: Edited,
): (text: string) => Reopening | undefined {
  return (text) => {
    if (fieldValidation[validate] === 'Ignore') return undefined
    const { manifests, failures } = readManifests(text, 'edited-file', { decoding: 'written' })
    if (manifests.length > 0 && failures.length === 0) return undefined
    const problem = failures.length > 0 ? describePart(failures[0]) : 'it is empty'
    stderr.write(`error: ${subjectOf(first)} is invalid\n`)
    return { head: `${subjectOf(first)} was not valid`, details: [`The edited file failed validation: ${problem}`] }
  }
}

/** Says what can be done with the file in which changes stay. */
function kept({ stderr }: Host, outcome: Exclude<SaveRefusal['outcome'], 'invalid'>, path: string): SilentError {
  stderr.write(
    outcome === 'not found'
      ? `The edits you made on deleted resources have been saved to ${JSON.stringify(path)}\n`
      : `You can run \`coracle replace -f ${path}\` to try this update again.\n`,
  )
  return new SilentError()
}

/** Nobody edits who owns which field. */
const withoutOwnership = (object: KubernetesObject): KubernetesObject =>
  withoutManagedFields(object as unknown as JsonObject) as unknown as KubernetesObject

/** What an edited object was before: the first of the same identity, and that may be none. Throws a CliError where it is another one. */
function originalOf<T>(
  { kind, metadata: { name = '', uid = '' } }: KubernetesObject,
  shown: readonly { readonly target: T; readonly before: KubernetesObject }[],
): { readonly target: T; readonly before: KubernetesObject } {
  const original = shown.find(({ before }) => (before.metadata.uid ?? '') === uid)
  if (original !== undefined) return original
  throw new CliError(`no original object found for ${kind} ${JSON.stringify(name)}`)
}
