import { CliError } from '../../cli-error.ts'
import { whileDoing } from '../../describe-error.ts'
import type { Host } from '../../host.ts'
import { hasFiles } from '../../manifests/load-manifests.ts'
import { OutcomePrinter } from '../../output/outcome-printer.ts'
import { throwLate } from '../../refused-value.ts'
import { forEachManifest } from '../manifest-command.ts'
import { rawRequest } from '../raw-request.ts'
import { type CreateFlags, createObject } from './create-object.ts'

/** `coracle create -f FILE` */
export async function create(host: Host, flags: CreateFlags): Promise<void> {
  throwLate(flags, 'dryRun')
  throwLate(flags, 'validate')
  // A wrong -o is told before other flags are judged.
  await OutcomePrinter.for(host, flags)
  if (!hasFiles(flags)) throw new CliError('must specify one of -f and -k')
  if (flags.raw !== undefined) {
    if (flags.edit === true) throw new CliError('--raw and --edit are mutually exclusive')
    if (flags.selector !== undefined) throw new CliError('--raw and --selector (-l) are mutually exclusive')
    return rawRequest(host, 'POST', flags.raw, flags)
  }
  if (flags.edit === true) {
    const { createEdited } = await import('./create-edited.ts')
    return createEdited(host, flags)
  }
  await forEachManifest(host, flags, { asList: false, needsObjects: 'create' }, async (session, placed) => {
    const object = await createObject(session, placed, flags).catch((error: unknown) => {
      throw whileDoing(`error when creating "${placed.source}"`, error)
    })
    return { verb: 'created', object }
  })
}
