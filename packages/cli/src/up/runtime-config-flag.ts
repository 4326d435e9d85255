import { formerVersionNames } from '@coracle/api'
import type { ClusterOptions } from '@coracle/cluster'
import { CliError } from '../cli-error.ts'

export interface RuntimeConfigFlags {
  /** `group/version`, or with `=true` or `=false` behind, as kube-apiserver has it. */
  readonly runtimeConfig?: readonly string[]
}

/** The versions that are served beside the usual ones. Throws a CliError on those that this flag does not know. */
export function formerVersionsOf({ runtimeConfig = [] }: RuntimeConfigFlags): Pick<ClusterOptions, 'formerVersions'> {
  const wanted = new Map<string, boolean>()
  for (const each of runtimeConfig) {
    const [, version = '', answer = 'true'] = /^(.*?)(?:=(.*))?$/.exec(each.trim()) ?? []
    if (!formerVersionNames.includes(version)) {
      throw new CliError(
        `--runtime-config: ${JSON.stringify(version)} is no version that can be served beside the usual ones: there are ${formerVersionNames.join(', ')}`,
      )
    }
    if (answer !== 'true' && answer !== 'false') {
      throw new CliError(`--runtime-config: ${JSON.stringify(each)} says neither ${version}=true nor ${version}=false`)
    }
    wanted.set(version, answer === 'true')
  }
  const formerVersions = formerVersionNames.filter((version) => wanted.get(version) === true)
  return formerVersions.length === 0 ? {} : { formerVersions }
}
