import { normalize } from 'node:path'
import type { PluginPolicy } from '@coracle/client'
import { SummaryError } from '../cli-error.ts'
import type { Preference } from './preference.ts'

/** Which credential plugins may run as a preference says; undefined where it says nothing. Throws a SummaryError where that makes no sense. */
export function pluginPolicyOf(preference: Preference): PluginPolicy | undefined {
  const { credentialPluginPolicy: type, credentialPluginAllowlist: list } = preference
  switch (type) {
    case '':
    case 'AllowAll':
    case 'DenyAll':
      if (list !== undefined) {
        const words = `plugin policy is ${JSON.stringify(type)} but allowlist is non-nil`
        throw new SummaryError(`misconfigured credential plugin allowlist: ${words}`)
      }
      return type === 'DenyAll' ? { type } : undefined
    case 'Allowlist':
      return { type, commands: checkedAllowlist(list) }
    default:
      throw new SummaryError(`unknown plugin policy: ${JSON.stringify(type)}`)
  }
}

function checkedAllowlist(list: readonly string[] | undefined): readonly string[] {
  const set = 'credential plugin policy set to "Allowlist", but allowlist is'
  if (list === undefined) throw new SummaryError(`${set} unspecified`)
  if (list.length === 0) throw new SummaryError(`${set} empty; use "DenyAll" policy instead`)
  for (const [index, command] of list.entries()) {
    if (command === '') {
      throw new SummaryError(`misconfigured credential plugin allowlist: empty allowlist entry #${index + 1}`)
    }
    const clean = cleanPath(command)
    if (clean !== command) {
      throw new SummaryError(`non-normalized file path: ${JSON.stringify(command)} vs ${JSON.stringify(clean)}`)
    }
  }
  return list
}

/** A path as Go's filepath.Clean has it. */
const cleanPath = (path: string): string => {
  const clean = normalize(path)
  return clean.length > 1 ? clean.replace(/\/$/, '') : clean
}
