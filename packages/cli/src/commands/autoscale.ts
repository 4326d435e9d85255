import { apiVersionOf, type KubernetesObject } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { fieldManagerOf } from '../manifests/field-managers.ts'
import { placeObject } from '../manifests/place-object.ts'
import { lazyPrinter, type Outcome } from '../output/outcome-printer.ts'
import { throwLate } from '../refused-value.ts'
import { withChangeCause } from './change-cause.ts'
import { type ChangeFlags, changeObjects } from './change-objects.ts'
import { refuseConnected } from './connection-refusals.ts'
import { type AutoscalerFlags, checkAutoscaler, generateAutoscaler } from './generate/policies.ts'
import { withSavedConfig } from './save-config.ts'

export interface AutoscaleFlags extends ChangeFlags, Omit<AutoscalerFlags, 'max'> {
  readonly max?: number
  /** Notes what was created in the object, so that `apply` can go on from it. */
  readonly saveConfig?: boolean
  /** The old form of `--cpu`: a percentage without its sign. */
  readonly cpuPercent?: number
}

/** An autoscaler as programs in Go write it: with the metrics of its status, also where there are none. */
function withMetrics(object: KubernetesObject): KubernetesObject {
  const { status } = object as { readonly status?: object }
  return { ...object, ...{ status: { currentMetrics: null, ...status } } }
}

/** Throws a CliError, in kubectl's words for every failure, where autoscaling/v1 has no form for what is wanted. */
function requireFormerForm({ cpu = '', memory = '' }: AutoscaleFlags): void {
  if (cpu.trim().endsWith('%') && memory === '') return
  const why = cpu === '' ? 'empty input' : '%!w(<nil>)'
  throw new CliError(
    `failed to create autoscaling/v2 HPA and the configuration is incompatible with autoscaling/v1: ${why}`,
  )
}

/** `coracle autoscale TYPE NAME --max=COUNT` */
export async function autoscale(host: Host, args: readonly string[], flags: AutoscaleFlags): Promise<void> {
  const { max, cpuPercent } = flags
  if (cpuPercent !== undefined) {
    host.stderr.write(
      "Flag --cpu-percent has been deprecated, Use --cpu with percentage or resource quantity format (e.g., '70%' for utilization or '500m' for milliCPU).\n",
    )
  }
  if (max === undefined) throw new CliError('required flag(s) "max" not set')
  throwLate(flags, 'dryRun')
  const { min, name, memory } = flags
  // As kubectl has it, what is not above zero is none.
  const cpu = flags.cpu ?? ((cpuPercent ?? 0) > 0 ? `${cpuPercent}%` : undefined)
  const wanted = {
    max,
    ...(min === undefined || min <= 0 ? {} : { min }),
    ...(name === undefined ? {} : { name }),
    ...(cpu === undefined ? {} : { cpu }),
    ...(memory === undefined ? {} : { memory }),
  }
  try {
    checkAutoscaler(wanted)
    if ((cpuPercent ?? 0) > 0 && flags.cpu !== undefined) {
      throw new CliError('--cpu-percent and --cpu are mutually exclusive')
    }
  } catch (refusal) {
    await refuseConnected(host, { ...flags, makesClientFirst: true }, refusal)
  }
  const printer = lazyPrinter(host, { ...flags, hasDeclaredOrder: true })
  await changeObjects(
    host,
    args,
    'autoscale',
    {
      ...flags,
      ...{ filesAsTheyAre: true, needsObjects: 'autoscale' },
      ...{ looksAtOutputLate: true, hasDeclaredOrder: true, startsAnew: true },
    },
    async (session, { resource, key }) => {
      if (!resource.subresources.includes('scale')) {
        throw new CliError(
          `cannot autoscale a ${resource.kind}: could not find scale subresource for ${resource.group}/${resource.version}, Resource=${resource.plural} in discovery information`,
        )
      }
      const target = { apiVersion: apiVersionOf(resource), kind: resource.kind, name: key.name }
      const scaler = (await session.catalog()).find('horizontalpodautoscalers')
      const made = generateAutoscaler(target, wanted)
      const named = session.givenNamespace === undefined ? made : placeObject(made, scaler, session)
      const recorded: KubernetesObject = withChangeCause(named, flags)
      const isTried = flags.dryRun === 'client'
      const object = isTried
        ? recorded
        : placeObject(await host.environment.clock.hold(withSavedConfig(scaler, recorded, flags)), scaler, session)
      const options = {
        fieldManager: flags.fieldManager ?? fieldManagerOf('autoscale'),
        dryRun: flags.dryRun === 'server',
      }
      const act = async (): Promise<Outcome> => {
        const made = isTried ? object : await session.client.create<KubernetesObject>(scaler, object, options)
        await printer()
        return { resource: scaler, verb: isTried ? 'created' : 'autoscaled', object: withMetrics(made) }
      }
      try {
        return await act()
      } catch {
        requireFormerForm(flags)
        // kubectl tries the same in the older version then.
        return act()
      }
    },
  )
}
