import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'

/** What `-k` names, and the command that is to have what kustomize makes of it, for messages. */
export interface Kustomization {
  readonly directory: string
  readonly command: string
}

const fileNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** Why nothing comes of a kustomization: kustomize's words where there is none, or else what builds it. */
export async function kustomizationRefusal(
  { workingDirectory }: Host,
  { directory, command }: Kustomization,
): Promise<CliError> {
  const path = resolve(workingDirectory, directory)
  const real = await realpath(path).catch(() => undefined)
  if (real === undefined) {
    return new CliError(
      `must build at directory: not a valid directory: evalsymlink failure on '${directory}' : lstat ${path}: no such file or directory`,
    )
  }
  if (!(await stat(real)).isDirectory()) {
    return new CliError(`must build at directory: '${directory}': file is not directory`)
  }
  const found = await Promise.all(
    fileNames.map((name) =>
      stat(join(real, name)).then(
        () => true,
        () => false,
      ),
    ),
  )
  return new CliError(
    found.includes(true)
      ? `-k: kustomizations are not built here: kustomize build ${directory} | ${command} -f -`
      : `unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '${real}'`,
  )
}
