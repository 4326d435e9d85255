import type { KubernetesObject } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { withLastApplied } from '../../manifests/apply-object.ts'
import { placeObject } from '../../manifests/place-object.ts'
import { type OutcomeFlags, OutcomePrinter } from '../../output/outcome-printer.ts'
import { type ConnectionFlags, type Session, withSession } from '../../session.ts'
import { withNameHash } from '../generate/name-hash.ts'
import { fieldValidation } from '../manifest-command.ts'

/** Flags of every command that makes an object from its other flags. */
export interface GeneratedFlags extends ConnectionFlags, OutcomeFlags {
  readonly saveConfig?: boolean
  /** Puts a hash of the contents after the name of a ConfigMap or Secret. */
  readonly appendHash?: boolean
  /** Who creates, for field ownership; the command's own name unless given. */
  readonly fieldManager?: string
  readonly validate: keyof typeof fieldValidation
}

/** Makes the object; it may ask the server for what it is made from. Throws a CliError where the flags do not say enough. */
export type Generate = (session: Session) => KubernetesObject | Promise<KubernetesObject>

/**
 * Creates what `generate` makes and says so; only prints it with `--dry-run=client`. A refusal names the subject: `failed
 * to create deployment: …`, where it is `deployment:`.
 */
export async function createGenerated(
  host: Host,
  flags: GeneratedFlags,
  generate: Generate,
  subject?: string,
): Promise<void> {
  const printer = await OutcomePrinter.for(host, flags)
  await withSession(host, flags, async (session) => {
    const generated = await generate(session)
    const made = flags.appendHash === true ? withNameHash(generated) : generated
    const resource = (await session.catalog()).ofKind(made.apiVersion, made.kind)
    if (resource === undefined) {
      throw new CliError(`the server knows no ${made.kind} in version ${made.apiVersion}`)
    }
    // What is only printed has the namespace where a flag named one, as in kubectl.
    const isPrintedOnly = flags.dryRun === 'client' && session.givenNamespace === undefined
    const placed = isPrintedOnly ? made : placeObject(made, resource, session)
    const object = flags.saveConfig === true ? withLastApplied(placed) : placed
    if (flags.dryRun === 'client') return printer.print(resource, { verb: 'created', object })
    const creation = session.client.create(resource, object, {
      fieldManager: flags.fieldManager ?? 'coracle-create',
      fieldValidation: fieldValidation[flags.validate],
      dryRun: flags.dryRun === 'server',
    })
    const created = await creation.catch((error: unknown) => {
      if (subject === undefined || !(error instanceof Error)) throw error
      throw new CliError(`failed to create ${subject} ${error.message}`)
    })
    await printer.print(resource, { verb: 'created', object: created })
  })
}
