/** Upstream's order of versions (apimachinery's util/version.CompareKubeAwareVersionStrings) as a number: stable before beta before alpha, newer before older. */
export function versionRank(version: string): number {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  if (match === null) return -1
  const [, major = '0', stage, minor = '0'] = match
  const stageRank = stage === undefined ? 2 : stage === 'beta' ? 1 : 0
  return stageRank * 1e6 + Number(major) * 1e3 + Number(minor)
}
