import type { KubernetesObject } from '@coracle/api'
import { collectionPath, type DiscoveredResource, isUnreachableServer, withQuery } from '@coracle/client'
import { CliError } from '../../cli-error.ts'
import { checkConnection } from '../../connection.ts'
import type { Host } from '../../host.ts'
import { fieldManagerOf } from '../../manifests/field-managers.ts'
import { placeObject } from '../../manifests/place-object.ts'
import { type OutcomeFlags, OutcomePrinter } from '../../output/outcome-printer.ts'
import type { LateFlags } from '../../refused-value.ts'
import { type ConnectionFlags, type Session, withSession } from '../../session.ts'
import { type RecordFlags, withChangeCause } from '../change-cause.ts'
import { localResource, noSession } from '../change-objects.ts'
import { withNameHash } from '../generate/name-hash.ts'
import { fieldValidation } from '../manifest-command.ts'
import { withSavedConfig } from '../save-config.ts'

/** Flags of every command that makes an object from its other flags. */
export interface GeneratedFlags extends ConnectionFlags, OutcomeFlags, RecordFlags, LateFlags {
  readonly saveConfig?: boolean
  /** Puts a hash of the contents after the name of a ConfigMap or Secret. */
  readonly appendHash?: boolean
  /** Who creates, for field ownership; the command's own name unless given. */
  readonly fieldManager?: string
  readonly validate: keyof typeof fieldValidation
}

/** Makes the object; it may ask the server for what it is made from. Throws a CliError where the flags do not say enough. */
export type Generate = (session: Session) => KubernetesObject | Promise<KubernetesObject>

/** What sets a creation apart. */
export interface Creation {
  /** What a refusal names: `deployment:` for `failed to create deployment: …`. Absent: refusals are told as they are. */
  readonly subject?: string | undefined
  /** Whether the server is asked before there is something to create. */
  readonly asksServer: boolean
  /** Whether the server has to say which resource the object is of, also where it is built in. */
  readonly mapsKind?: boolean
  /** Prints what is created; absent: as the flags say. */
  readonly printer?: Pick<OutcomePrinter, 'print'>
  /** What `--save-config` notes is in no namespace, also where a flag names one. */
  readonly notesNoNamespace?: boolean
}

/**
 * Creates what `generate` makes and says so; only prints it with `--dry-run=client`. Without `asksServer` an object that is only
 * printed is made where there is no server too, and `generate` is given none.
 */
export async function createGenerated(
  host: Host,
  flags: GeneratedFlags,
  generate: Generate,
  { subject, asksServer, mapsKind = false, notesNoNamespace = false, printer: given }: Creation,
): Promise<void> {
  const printer = given ?? (await OutcomePrinter.for(host, { ...flags, hasDeclaredOrder: true }))
  if (flags.dryRun === 'client' && !asksServer) return printHere(host, flags, generate, printer)
  await withSession(host, flags, async (session) => {
    const made = await madeBy(generate, session, flags)
    const resource = await (mapsKind ? servedResource(session, made) : resourceOf(session, made))
    if (resource === undefined) {
      throw new CliError(`the server knows no ${made.kind} in version ${made.apiVersion}`)
    }
    if (flags.dryRun === 'client') return printOnly(made, resource, session, flags, printer)
    const noted = notesNoNamespace ? made : withGivenNamespace(made, resource, session)
    const object = placeObject(
      await host.environment.clock.hold(withSavedConfig(resource, noted, flags)),
      resource,
      session,
    )
    const options = {
      fieldManager: flags.fieldManager ?? fieldManagerOf('create'),
      fieldValidation: fieldValidation[flags.validate],
    }
    const dryRun = flags.dryRun === 'server'
    const created = await session.client
      .create(resource, object, { ...options, dryRun })
      .catch(async (error: unknown) => {
        if (subject === undefined || !(error instanceof Error)) throw error
        const path = withQuery(collectionPath(resource, object.metadata.namespace), {
          ...(dryRun ? { dryRun: 'All' } : {}),
          ...options,
        })
        const { plainUnreachable } = await host.environment.clock.hold(import('../../unreachable.ts'))
        throw new CliError(`failed to create ${subject} ${plainUnreachable(error, 'Post', path) ?? error.message}`)
      })
    await printer.print(resource, { verb: 'created', object: created })
  })
}

const servedResource = async (session: Session, { apiVersion, kind }: KubernetesObject) =>
  (await session.catalog()).ofKind(apiVersion, kind)

/** The resource of an object: kubectl knows that of built-in kinds without a server, and so does not fail for want of one here. */
async function resourceOf(session: Session, made: KubernetesObject): Promise<DiscoveredResource | undefined> {
  try {
    return await servedResource(session, made)
  } catch (error) {
    if (isUnreachableServer(error)) return localResource(made)
    throw error
  }
}

/** Prints an object that is made without a server. */
async function printHere(
  host: Host,
  flags: GeneratedFlags,
  generate: Generate,
  printer: Pick<OutcomePrinter, 'print'>,
): Promise<void> {
  await checkConnection(host, flags)
  const session = noSession(flags, '--dry-run=client')
  const made = await madeBy(generate, session, flags)
  await printOnly(made, localResource(made), session, flags, printer)
}

async function madeBy(generate: Generate, session: Session, flags: GeneratedFlags): Promise<KubernetesObject> {
  const generated = withChangeCause(await generate(session), flags)
  return flags.appendHash === true ? withNameHash(generated) : generated
}

/** An object with a namespace where a flag names one, as in kubectl. */
const withGivenNamespace = (made: KubernetesObject, resource: DiscoveredResource, session: Session) =>
  session.givenNamespace === undefined ? made : placeObject(made, resource, session)

/** Prints an object that is not created. */
async function printOnly(
  made: KubernetesObject,
  resource: DiscoveredResource,
  session: Session,
  flags: GeneratedFlags,
  printer: Pick<OutcomePrinter, 'print'>,
): Promise<void> {
  const object = await withSavedConfig(resource, withGivenNamespace(made, resource, session), flags)
  await printer.print(resource, { verb: 'created', object })
}
