import { deepEqual, type JsonObject, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { parseManifests } from '../manifests/parse-manifests.ts'
import { serialize, withoutManagedFields } from '../output/serialize.ts'
import { editText } from './edit-text.ts'

/** Flags of every command that opens an editor. */
export interface EditorFlags {
  /** Also the form in which the editor shows objects: JSON, or else YAML. */
  readonly output?: string
  readonly windowsLineEndings?: boolean
}

/** Throws a CliError, in kubectl's words, where `-o` asks for what cannot be edited. */
export function checkEditorFlags(output: string | undefined): void {
  if (['', 'json', 'kyaml', 'yaml'].includes((output ?? '').toLowerCase())) return
  throw new CliError(
    `unable to match a printer suitable for the output format ${JSON.stringify(output)}, allowed formats are: json,kyaml,yaml`,
  )
}

/** An object to edit. */
export interface EditTarget {
  readonly resource: DiscoveredResource
  readonly object: KubernetesObject
}

/** The same as it is shown. */
interface Shown<T> {
  readonly target: T
  readonly before: KubernetesObject
}

/** What becomes of objects that were edited. */
export interface EditActions<T> {
  /** Saves what was changed. Where it rejects the editor opens again, with why. */
  readonly save: (target: T, before: KubernetesObject, after: KubernetesObject) => Promise<void>
  /** Says that of several objects this one was left as it was. */
  readonly skip: (target: T, before: KubernetesObject) => Promise<void>
}

/**
 * Opens objects in the editor, in one file, and saves each that is changed there. Rejects with a CliError where there are
 * none, and as `editText` does.
 */
export async function editObjects<T extends EditTarget>(
  host: Host,
  targets: readonly T[],
  { output, windowsLineEndings = false }: EditorFlags,
  { save, skip }: EditActions<T>,
): Promise<void> {
  const shown = targets.map((target) => ({ target, before: withoutOwnership(target.object) }))
  const objects = shown.map(({ before }) => before)
  const [first, ...others] = objects
  if (first === undefined) throw new CliError('edit cancelled, no objects found')
  checkEditorFlags(output)
  // What is saved while another object is refused stays saved when the editor opens again.
  const saved = new Map<T, KubernetesObject>()
  const format = output?.toLowerCase() === 'json' ? 'json' : 'yaml'
  await editText(host, {
    name: first.metadata.name ?? '',
    subject: targets.map(({ resource, object }) => `${resource.plural} "${object.metadata.name}"`).join(', '),
    text: await serialize(others.length === 0 ? first : { apiVersion: 'v1', kind: 'List', items: objects }, format),
    format,
    windowsLineEndings,
    async save(text) {
      const errors: unknown[] = []
      for (const { object: after } of parseManifests(text, 'the edited file')) {
        try {
          const { target, before } = originalOf(after, shown)
          if (deepEqual(saved.get(target), after)) continue
          await (deepEqual(before, after) ? skip(target, before) : save(target, before, after))
          saved.set(target, after)
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw new AggregateError(errors)
    },
  })
}

/** Nobody edits who owns which field. */
const withoutOwnership = (object: KubernetesObject): KubernetesObject =>
  withoutManagedFields(object as unknown as JsonObject) as unknown as KubernetesObject

/** What an edited object was before. Throws a CliError where it is another one. */
function originalOf<T>({ kind, metadata }: KubernetesObject, shown: readonly Shown<T>[]): Shown<T> {
  const original = shown.find(
    ({ before }) =>
      before.kind === kind &&
      before.metadata.name === metadata.name &&
      before.metadata.namespace === metadata.namespace,
  )
  if (original !== undefined) return original
  throw new CliError('At least one of apiVersion, kind and name was changed: an object keeps these')
}
