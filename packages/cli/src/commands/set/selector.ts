import type { KubernetesObject } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { hasFiles } from '../../manifests/load-manifests.ts'
import { withChangeCause } from '../change-cause.ts'
import { type ChangeFlags, changeObjects } from '../change-objects.ts'
import { checkNamespace, refusalOfFinder } from '../connection-refusals.ts'
import { labelSelectorOf } from '../generate/policies.ts'
import { requireTargets } from '../targets.ts'
import { writeChanges } from '../write-changes.ts'
import { setFieldManager } from './pod-templates.ts'

export interface SetSelectorFlags extends ChangeFlags {
  readonly resourceVersion?: string
}

/** `coracle set selector service NAME KEY=VALUE` */
export async function setSelector(host: Host, args: readonly string[], flags: SetSelectorFlags): Promise<void> {
  const text = args.at(-1)
  if (text === undefined) throw new CliError('one selector is required')
  const { matchExpressions = [], matchLabels = {} } = labelSelectorOf(text)
  const resources = args.slice(0, -1)
  if (flags.local === true || (resources.length === 0 && !hasFiles(flags))) {
    await checkNamespace(host, flags)
    if (flags.local !== true) requireTargets(resources, flags)
  }
  await changeObjects(
    host,
    resources,
    'set',
    { ...flags, typed: true, hasDeclaredOrder: true, makesClientFirst: true, refusalOfConnection: refusalOfFinder },
    async (session, target) => {
      const { object } = target
      if (object.kind !== 'Service') throw new CliError('setting a selector is only supported for Services')
      if (matchExpressions.length > 0) {
        const told = matchExpressions.map(
          ({ key, operator, values = [] }) => `{${key} ${operator} [${values.join(' ')}]}`,
        )
        throw new CliError(`match expression [${told.join(' ')}] not supported on this object`)
      }
      const { resourceVersion } = flags
      const { resourceVersion: _, ...unversioned } = object.metadata
      // The server holds the version against the object's.
      const before = resourceVersion === undefined ? object : { ...object, metadata: unversioned }
      const metadata = resourceVersion === undefined ? object.metadata : { ...object.metadata, resourceVersion }
      const spec = (object as { readonly spec?: object }).spec ?? {}
      const selected: KubernetesObject = {
        ...object,
        metadata,
        ...{ spec: { ...spec, selector: matchLabels } },
      }
      const wanted = withChangeCause(selected, flags)
      const written = await writeChanges(session, { ...target, object: before }, wanted, {
        dryRun: flags.dryRun,
        fieldManager: flags.fieldManager ?? setFieldManager,
      })
      return { verb: 'selector updated', object: written }
    },
  )
}
