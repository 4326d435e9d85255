// Tests compare with kubectl 1.35; where 1.36 answers otherwise, coracle answers as 1.36 does, and tests of its own say how.

const changes: readonly (readonly [RegExp, string])[] = [
  // Lines of descriptions that one has and the other has not.
  [/^ *(?:Kube-Proxy Version|AppProtocol|Time Zone|PodGroupName): .*\n|^ *SchedulingGroup:\n/gm, ''],
  // What stands beside such a line is set as it is.
  [/^(Events|Last Schedule Time|Active Jobs): +/gm, '$1: '],
  // Labels of what has no description of its own keep their capitals: as wide as before, but for those that stand alone.
  [/^( +(?:[A-Z][\w-]* )*)Ip(?=:)/gm, '$1IP'],
  [/^( +(?:[A-Z][\w-]* )*)Id(?=:)/gm, '$1ID'],
  [/^( +(?:[A-Z][\w-]* )+)Pid(?=:)/gm, '$1PID'],
  [/^( +(?:[A-Z][\w-]* )+)Uri(?=:)/gm, '$1URI'],
  [/^( +(?:[A-Z][\w-]* )+)Fqdn(?=:)/gm, '$1FQDN'],
  [/^( +)Ab(?=: )/gm, '$1AB'],
  [/^( +)OSB GUID(?=: )/gm, '$1Osb GUID'],
  [/^( +Non Resource )Ur Ls(?=:)/gm, '$1URLs'],
  [/^( +Kubelet )Ui Ds(?=:)/gm, '$1UIDs'],
  [/^( +)Http Proxy(?=:)/gm, '$1HTTPProxy'],
  // Containers that are not there are told of by kubectl itself, with those that are.
  [
    /^(?:Error from server \(BadRequest\)|error): (cannot attach to the container: )?container (\S+) (?:is not valid for|not found in) pod (\S+?)(?: out of: .*)?$/gm,
    'error: $1container $2 is not valid for pod $3',
  ],
  [/^--profile=legacy is deprecated .*\n/gm, ''],
  [/^Warning: resource \S+ was previously managed with .*\n/gm, ''],
  [/(?<=^error: unrecognized condition: )""$/gm, '[]'],
  // What is worked out here is told as it would be.
  [/ unchanged \(dry run\)$/gm, ' configured (dry run)'],
]

/** That an object has not been applied before is told of dry runs, too. */
const lacksLastApplied = /^Warning: resource \S+ is missing the \S+ annotation .*\n/gm

/** What a command line prints, without what kubectl 1.36 tells otherwise than 1.35. */
export function withoutNewsOf136(text: string, line: readonly string[] = []): string {
  const isDryRun = line.some((arg) => arg.startsWith('--dry-run'))
  const kept = isDryRun ? text.replace(lacksLastApplied, '') : text
  return changes.reduce((all, [words, same]) => all.replace(words, same), kept)
}

/** A command line that says for both whether events are described: unless told, kubectl 1.36 describes those of single objects alone. */
export const sayingEvents = (args: readonly string[]): readonly string[] =>
  args.includes('describe') && !args.some((arg) => arg.startsWith('--show-events')) ? [...args, '--show-events'] : args
