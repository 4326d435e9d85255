import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { type ChangeFlags, localAndServer } from '../change-objects.ts'
import { refusalOfTargets } from '../connection-refusals.ts'
import { changeTemplates } from './pod-templates.ts'

/** `coracle set serviceaccount TYPE NAME ACCOUNT` */
export async function setServiceAccount(host: Host, args: readonly string[], flags: ChangeFlags): Promise<void> {
  for (const refusal of localAndServer(flags)) throw refusal
  const account = args.at(-1)
  if (account === undefined) throw new CliError('serviceaccount is required')
  const texts = { done: 'serviceaccount updated', failure: 'failed to patch ServiceAccountName', isAlwaysSaid: true }
  await changeTemplates(
    host,
    // Without a server kubectl passes over what else is named.
    flags.local === true ? [] : args.slice(0, -1),
    { ...flags, refusalOfConnection: refusalOfTargets },
    texts,
    ({ serviceAccount: _, ...spec }) => ({
      ...spec,
      serviceAccountName: account,
    }),
  )
}
