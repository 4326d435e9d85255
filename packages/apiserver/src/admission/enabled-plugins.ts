import { compareText } from '@coracle/api'
import type { AdmissionPlugin } from './admission.ts'

/** A plugin is to be used, or left out, that there is not. */
export class UnknownAdmissionPluginError extends Error {
  override readonly name = 'UnknownAdmissionPluginError'
}

/** Those of the plugins here that are used only where somebody asks for them, as upstream. */
const optionalPlugins = [
  'AlwaysAdmit',
  'AlwaysDeny',
  'AlwaysPullImages',
  'DenyServiceExternalIPs',
  'ExtendedResourceToleration',
  'LimitPodHardAntiAffinityTopology',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'OwnerReferencesPermissionEnforcement',
  'PodNodeSelector',
  'PodTolerationRestriction',
] as const

export type OptionalPlugin = (typeof optionalPlugins)[number]

const offByDefault: ReadonlySet<string> = new Set(optionalPlugins)

/** Upstream's plugins that there are not here: left out in any case. Those that are on there concern what is not served here. */
const onUpstream: ReadonlySet<string> = new Set([
  'ClusterTrustBundleAttest',
  'JobValidation',
  'PodGroupProtection',
  'PodGroupWorkloadExists',
])
const offUpstream: ReadonlySet<string> = new Set(['EventRateLimit', 'ImagePolicyWebhook'])

/** Names of plugins, as kube-apiserver's flags have them. */
export interface AdmissionNames {
  /** `--enable-admission-plugins`: beside those that are used anyway. */
  readonly enabled?: readonly string[] | undefined
  /** `--disable-admission-plugins`: not used. */
  readonly disabled?: readonly string[] | undefined
}

/** Whether nobody needs to ask for a plugin. */
export const isOnByDefault = (name: string): boolean => !offByDefault.has(name)

/** The plugins to use of all that there are, in their order. Throws an UnknownAdmissionPluginError for names that mean nothing. */
export function pluginsInUse(
  plugins: readonly AdmissionPlugin[],
  { enabled = [], disabled = [] }: AdmissionNames,
): readonly AdmissionPlugin[] {
  requireKnown('enable-admission-plugins', enabled, plugins, onUpstream)
  requireKnown('disable-admission-plugins', disabled, plugins, new Set([...onUpstream, ...offUpstream]))
  const both = [...new Set(enabled)].filter((each) => disabled.includes(each)).sort(compareText)
  if (both.length > 0) {
    const names = `[${both.join(' ')}]`
    throw new UnknownAdmissionPluginError(
      `${names} in enable-admission-plugins and disable-admission-plugins overlapped`,
    )
  }
  return plugins.filter(({ name }) => enabled.includes(name) || (isOnByDefault(name) && !disabled.includes(name)))
}

function requireKnown(
  flag: string,
  wanted: readonly string[],
  plugins: readonly AdmissionPlugin[],
  others: ReadonlySet<string>,
): void {
  const unknown = wanted.find((each) => !others.has(each) && !plugins.some(({ name }) => name === each))
  if (unknown === undefined) return
  const names = plugins.map(({ name }) => name).join(', ')
  throw new UnknownAdmissionPluginError(`${flag} plugin ${JSON.stringify(unknown)} is unknown: there are ${names}`)
}
