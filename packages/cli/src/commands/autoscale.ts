import { apiVersionOf, type KubernetesObject } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { withLastApplied } from '../manifests/apply-object.ts'
import { fieldManagerOf } from '../manifests/field-managers.ts'
import { placeObject } from '../manifests/place-object.ts'
import { withChangeCause } from './change-cause.ts'
import { type ChangeFlags, changeObjects } from './change-objects.ts'
import { type AutoscalerFlags, generateAutoscaler } from './generate/policies.ts'

export interface AutoscaleFlags extends ChangeFlags, Omit<AutoscalerFlags, 'max'> {
  readonly max?: number
  /** Notes what was created in the object, so that `apply` can go on from it. */
  readonly saveConfig?: boolean
  /** The old form of `--cpu`: a percentage without its sign. */
  readonly cpuPercent?: number
}

/** `coracle autoscale TYPE NAME --max=COUNT` */
export async function autoscale(host: Host, args: readonly string[], flags: AutoscaleFlags): Promise<void> {
  const { max, cpuPercent } = flags
  if (max === undefined) throw new CliError('required flag(s) "max" not set')
  if (cpuPercent !== undefined) {
    host.stderr.write(
      "Flag --cpu-percent has been deprecated, Use --cpu with percentage or resource quantity format (e.g., '70%' for utilization or '500m' for milliCPU).\n",
    )
  }
  const cpu = flags.cpu ?? (cpuPercent === undefined ? undefined : `${cpuPercent}%`)
  await changeObjects(
    host,
    args,
    'autoscale',
    { ...flags, filesAsTheyAre: true, needsObjects: 'autoscale', looksAtOutputLate: true, hasDeclaredOrder: true },
    async (session, { resource, key }) => {
      if (!resource.subresources.includes('scale')) {
        throw new CliError(
          `cannot autoscale a ${resource.kind}: could not find scale subresource for ${resource.group}/${resource.version}, Resource=${resource.plural} in discovery information`,
        )
      }
      const target = { apiVersion: apiVersionOf(resource), kind: resource.kind, name: key.name }
      const scaler = (await session.catalog()).find('horizontalpodautoscalers')
      const { min, name, memory } = flags
      const made = generateAutoscaler(target, {
        max,
        ...(min === undefined || min < 0 ? {} : { min }),
        ...(name === undefined ? {} : { name }),
        ...(cpu === undefined ? {} : { cpu }),
        ...(memory === undefined ? {} : { memory }),
      })
      const placed: KubernetesObject = withChangeCause(placeObject(made, scaler, session), flags)
      const object = flags.saveConfig === true ? withLastApplied(placed) : placed
      if (flags.dryRun === 'client') return { resource: scaler, verb: 'created', object }
      const options = {
        fieldManager: flags.fieldManager ?? fieldManagerOf('autoscale'),
        dryRun: flags.dryRun === 'server',
      }
      return { resource: scaler, verb: 'autoscaled', object: await session.client.create(scaler, object, options) }
    },
  )
}
