import { delimiter, resolve } from 'node:path'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { commonKubeconfig, placesHere, placeToFind, shownPath } from '../local/cluster-place.ts'
import { shareKubeconfig } from '../local/common-kubeconfig.ts'

/** `coracle use NAME`: commands in this directory and below mean this cluster from now on. */
export async function use(host: Host, name: string): Promise<void> {
  const place = placeToFind(host, { name })
  const names = placesHere(host).map((each) => each.name)
  if (place.home === undefined || !names.includes(place.name)) {
    const known = names.length === 0 ? 'none was ever started here' : `there are ${names.join(', ')}`
    throw new CliError(`there is no cluster "${name}" here, ${known}: begin one with \`coracle up --name ${name}\``)
  }
  await shareKubeconfig(place, host, true)
  const kubeconfig = commonKubeconfig(place.home)
  host.stdout.write(`${name} is the current context of ${shownPath(host.workingDirectory, kubeconfig)}\n`)
  const named = (host.variables.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '')
  if (named.length > 0 && !named.some((path) => resolve(host.workingDirectory, path) === kubeconfig)) {
    host.stderr.write('Warning: KUBECONFIG names other files, and goes before it: unset KUBECONFIG, or add it there\n')
  }
}
