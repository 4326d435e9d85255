import type { AdmissionPlugin } from './admission.ts'

/** A plugin is to be left out that there is not. */
export class UnknownAdmissionPluginError extends Error {
  override readonly name = 'UnknownAdmissionPluginError'
}

/** The plugins but those of these names, as with kube-apiserver's `--disable-admission-plugins`. */
export function withoutPlugins(
  plugins: readonly AdmissionPlugin[],
  disabled: readonly string[],
): readonly AdmissionPlugin[] {
  const unknown = disabled.find((each) => !plugins.some(({ name }) => name === each))
  if (unknown !== undefined) {
    const names = plugins.map(({ name }) => name).join(', ')
    throw new UnknownAdmissionPluginError(`admission plugin ${JSON.stringify(unknown)} is unknown: there are ${names}`)
  }
  return disabled.length === 0 ? plugins : plugins.filter(({ name }) => !disabled.includes(name))
}
