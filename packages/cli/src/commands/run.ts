import type { Pod } from '@coracle/api'
import { CliError, UsageError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { fieldManagerOf } from '../manifests/field-managers.ts'
import { throwLate } from '../refused-value.ts'
import { propagationPolicy } from './cascade.ts'
import type { StreamFlags } from './connect-streams.ts'
import { createGenerated, type GeneratedFlags } from './create/generated.ts'
import { type OverrideFlags, withOverrides } from './generate/overrides.ts'
import { generateService } from './generate/services.ts'
import { generatePod, type PodFlags, portOf } from './generate/workloads.ts'

const creation = { asksServer: true, mapsKind: true, notesNoNamespace: true }

export interface RunFlags extends GeneratedFlags, PodFlags, StreamFlags, OverrideFlags {
  /** Shows what the container writes; with `stdin` unless it says no. */
  readonly attach?: boolean
  /** Deletes the pod when it has ended. */
  readonly rm?: boolean
  readonly podRunningTimeout: number
  /** Of the deletion that `rm` asks for, which has no dependents: only looked at. */
  readonly cascade: string
  /** Creates a Service in front of the pod too. */
  readonly expose?: boolean
}

/** `coracle run NAME --image=IMAGE [-- ARG…]` */
export async function runPod(host: Host, args: readonly string[], flags: RunFlags): Promise<void> {
  const [name, ...command] = args
  if (flags.image === undefined) throw new CliError('required flag(s) "image" not set')
  throwLate(flags, 'dryRun')
  if (name === undefined) throw new UsageError('NAME is required for run')
  if (flags.image === '') throw new CliError('--image is required')
  propagationPolicy(flags.cascade)
  if (flags.expose === true && (flags.port ?? '') === '') {
    throw new UsageError('--port must be set when exposing a service')
  }
  const isAttached = flags.attach ?? flags.stdin === true
  if (flags.tty === true && flags.stdin !== true) {
    throw new UsageError('-i/--stdin is required for containers with -t/--tty=true')
  }
  if (flags.rm === true && !isAttached) throw new UsageError('--rm should only be used for attached containers')
  if (isAttached && flags.dryRun !== 'none') {
    throw new UsageError(
      "--dry-run=[server|client] can't be used with attached containers options (--attach, --stdin, or --tty)",
    )
  }
  const { saveConfig = false, fieldManager = fieldManagerOf('run') } = flags
  const written = { ...flags, fieldManager, saveConfig: saveConfig && flags.dryRun !== 'client' }
  if (flags.expose === true) {
    await createGenerated(
      host,
      written,
      () => {
        const pod = generatePod(name, command, flags)
        const port = portOf(flags.port ?? '')
        const service = generateService(name, 'ClusterIP', { tcp: [String(port)] })
        const { spec, ...rest } = service as typeof service & { readonly spec: { readonly ports: readonly object[] } }
        const ports = [{ port, protocol: 'TCP', targetPort: port }]
        return { ...rest, metadata: { name }, ...{ spec: { ports, selector: pod.metadata.labels } } }
      },
      creation,
    )
  }
  const generate = () => withOverrides(generatePod(name, command, flags), flags)
  if (!isAttached) return createGenerated(host, written, generate, creation)
  const { runAttached } = await import('./run-attached.ts')
  await runAttached(host, generate() as Pod, written)
}
