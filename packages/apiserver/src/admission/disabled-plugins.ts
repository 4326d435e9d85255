import type { AdmissionPlugin } from './admission.ts'

/** A plugin is to be left out that there is not. */
export class UnknownAdmissionPluginError extends Error {
  override readonly name = 'UnknownAdmissionPluginError'
}

/** Upstream's plugins that this server has not: left out in any case. */
const pluginsOfUpstream = new Set([
  'AlwaysAdmit',
  'AlwaysDeny',
  'AlwaysPullImages',
  'ClusterTrustBundleAttest',
  'DenyServiceExternalIPs',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'ImagePolicyWebhook',
  'LimitPodHardAntiAffinityTopology',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'OwnerReferencesPermissionEnforcement',
  'PodNodeSelector',
  'PodTolerationRestriction',
])

/** The plugins but those of these names, as with kube-apiserver's `--disable-admission-plugins`. */
export function withoutPlugins(
  plugins: readonly AdmissionPlugin[],
  disabled: readonly string[],
): readonly AdmissionPlugin[] {
  const isKnown = (wanted: string) => pluginsOfUpstream.has(wanted) || plugins.some(({ name }) => name === wanted)
  const unknown = disabled.find((each) => !isKnown(each))
  if (unknown !== undefined) {
    const names = plugins.map(({ name }) => name).join(', ')
    throw new UnknownAdmissionPluginError(`admission plugin ${JSON.stringify(unknown)} is unknown: there are ${names}`)
  }
  return disabled.length === 0 ? plugins : plugins.filter(({ name }) => !disabled.includes(name))
}
