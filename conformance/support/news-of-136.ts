/** Lines of descriptions that kubectl 1.36 has and 1.35 has not, or the other way round. */
const lines = /^ *(?:Kube-Proxy Version|AppProtocol|Time Zone|PodGroupName): .*\n|^ *SchedulingGroup:\n/gm

/** A description without what kubectl 1.35, which tests compare with, tells otherwise than 1.36. */
export const withoutNewsOf136 = (text: string): string => text.replace(lines, '')

/** A command line that says for both whether events are described: unless told, kubectl 1.36 describes those of single objects alone. */
export const sayingEvents = (args: readonly string[]): readonly string[] =>
  args.includes('describe') && !args.some((arg) => arg.startsWith('--show-events')) ? [...args, '--show-events'] : args
