/** The most a container can say of its end: upstream's MaxContainerTerminationMessageLength. */
export const terminationMessageBytesMax = 4_096
/** The most of a log that stands in for that: upstream's MaxContainerTerminationMessageLogLength and -LogLines. */
export const logMessageBytesMax = 2_048
export const logMessageLinesMax = 80
