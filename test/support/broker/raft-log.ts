import { rabbitmqctl } from "./rabbitmqctl.ts";

/** What a quorum queue keeps on a node's disk. */
export interface RaftLog {
  /** The number of its last entry. */
  readonly last: number;
  /** Up to this one a snapshot stands for all; 0: there is none. */
  readonly snapshot: number;
  readonly segments: number;
  /** Of everything in its folder: segments, snapshots, checkpoints. */
  readonly bytes: number;
  /** Of the log that all queues of the node share, and from which segments are made when it is full. */
  readonly walBytes: number;
}

/** On a node that startRabbitmq started in `dir`. First what the shared log holds is put where it belongs, as if it were full. */
export async function raftLogOf(dir: string, vhost: string, queue: string): Promise<RaftLog> {
  const expression = `
    catch ra_log_wal:force_roll_over(ra_log_wal),
    timer:sleep(2000),
    [Status | _] = rabbit_quorum_queue:status(<<"${vhost}">>, <<"${queue}">>),
    {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"${vhost}">>, queue, <<"${queue}">>)),
    {Name, _} = amqqueue:get_pid(Q),
    #{data_dir := Dir} = ra_system:fetch(quorum_queues),
    Find = fun (Parts) -> filelib:wildcard(unicode:characters_to_list(filename:join([Dir | Parts]))) end,
    Own = Find([ra_directory:uid_of(quorum_queues, Name), "**/*"]),
    Size = fun (Files) -> lists:sum([filelib:file_size(F) || F <- Files, filelib:is_regular(F)]) end,
    Number = fun (Key) -> case proplists:get_value(Key, Status, 0) of N when is_integer(N) -> N; _ -> 0 end end,
    Segments = length([F || F <- Own, filename:extension(F) =:= ".segment"]),
    io_lib:format("~p,~p,~p,~p,~p", [Number(<<"Commit Index">>), Number(<<"Snapshot Index">>), Segments, Size(Own), Size(Find(["*.wal"]))])`;
  const answer = await rabbitmqctl(dir, "eval", `lists:flatten(begin ${expression} end).`);
  const [last = 0, snapshot = 0, segments = 0, bytes = 0, walBytes = 0] = answer
    .replaceAll(/[^\d,-]/g, "")
    .split(",")
    .map((word) => Math.max(0, Number(word))); // -1: none
  return { last, snapshot, segments, bytes, walBytes };
}
