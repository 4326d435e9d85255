import type { KubernetesObject, Pod } from '@coracle/api'
import { CliError, UsageError } from '../cli-error.ts'
import { checkConnection } from '../connection.ts'
import type { Host } from '../host.ts'
import { fieldManagerOf } from '../manifests/field-managers.ts'
import { OutcomePrinter } from '../output/outcome-printer.ts'
import { throwLate } from '../refused-value.ts'
import { propagationPolicy } from './cascade.ts'
import type { StreamFlags } from './connect-streams.ts'
import { createGenerated, type GeneratedFlags } from './create/generated.ts'
import { type OverrideFlags, withOverrides } from './generate/overrides.ts'
import { generateService } from './generate/services.ts'
import { generatePod, type PodFlags, portOf } from './generate/workloads.ts'
import { isImageReference } from './image-reference.ts'

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
  await checkConnection(host, flags)
  await OutcomePrinter.for(host, flags)
  propagationPolicy(flags.cascade)
  if (name === undefined) throw new UsageError('NAME is required for run')
  if (flags.image === '') throw new CliError('--image is required')
  if (!isImageReference(flags.image)) {
    throw new CliError(`Invalid image name ${JSON.stringify(flags.image)}: invalid reference format`)
  }
  if (flags.tty === true && flags.stdin !== true) {
    throw new UsageError('-i/--stdin is required for containers with -t/--tty=true')
  }
  if (flags.expose === true && (flags.port ?? '') === '') {
    throw new UsageError('--port must be set when exposing a service')
  }
  const isAttached = flags.attach ?? flags.stdin === true
  if (flags.rm === true && !isAttached) throw new UsageError('--rm should only be used for attached containers')
  if (isAttached && flags.dryRun !== 'none') {
    throw new UsageError(
      "--dry-run=[server|client] can't be used with attached containers options (--attach, --stdin, or --tty)",
    )
  }
  const { saveConfig = false, fieldManager = fieldManagerOf('run') } = flags
  const written = { ...flags, fieldManager, saveConfig: saveConfig && flags.dryRun !== 'client' }
  const generate = () => withOverrides(generatePod(name, command, flags), flags)
  if (!isAttached) return createPod(host, name, command, written, generate)
  if (flags.expose === true) await exposePod(host, name, command, written)
  const { runAttached } = await import('./run-attached.ts')
  await runAttached(host, generate() as Pod, written)
}

/** Creates a pod and, where one is asked for, the Service in front of it, which is printed first. */
async function createPod(
  host: Host,
  name: string,
  command: readonly string[],
  flags: RunFlags,
  generate: () => KubernetesObject,
): Promise<void> {
  const printer = await OutcomePrinter.for(host, { ...flags, hasDeclaredOrder: true })
  if (flags.expose !== true) return createGenerated(host, flags, generate, { ...creation, printer })
  let printPod = async () => {}
  const held = {
    print: async (...pod: Parameters<OutcomePrinter['print']>) => {
      printPod = () => printer.print(...pod)
    },
  }
  await createGenerated(host, flags, generate, { ...creation, printer: held })
  try {
    await exposePod(host, name, command, flags, printer)
    // kubectl parts them so, and by what its printer parts them with too.
    if (flags.output === 'yaml') host.stdout.write('---\n')
  } finally {
    await printPod()
  }
}

/** Creates a Service of the labels and the port of a pod. */
function exposePod(
  host: Host,
  name: string,
  command: readonly string[],
  flags: RunFlags,
  printer?: OutcomePrinter,
): Promise<void> {
  const generate = () => {
    const pod = generatePod(name, command, flags)
    const port = portOf(flags.port ?? '')
    const service = generateService(name, 'ClusterIP', { tcp: [String(port)] })
    const { spec, ...rest } = service as typeof service & { readonly spec: { readonly ports: readonly object[] } }
    const ports = [{ port, protocol: 'TCP', targetPort: port }]
    return { ...rest, metadata: { name }, ...{ spec: { ports, selector: pod.metadata.labels } } }
  }
  return createGenerated(host, flags, generate, printer === undefined ? creation : { ...creation, printer })
}
