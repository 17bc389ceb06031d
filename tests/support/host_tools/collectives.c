/* Collectives of MPI with the options and the output form of IMB-MPI1 that Rocefort uses.

   Intel's benchmark is in no registry, so tests run this program by the same command line. It sends
   real messages with MPI, and prints its own times.

   collectives -npmin N -iter N -msglog FIRST:LAST NAME */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void exchange(const char *name, char *out, char *in, int bytes)
{
    if (!strcmp(name, "Alltoall"))
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else if (!strcmp(name, "Allgather"))
        MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else if (!strcmp(name, "Gather"))
        MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (!strcmp(name, "Allreduce"))
        MPI_Allreduce(out, in, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Reduce(out, in, bytes / 4, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static double mean_us(const char *name, char *out, char *in, int bytes, int count)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int n = 0; n < count; n++)
        exchange(name, out, in, bytes);
    return (MPI_Wtime() - begin) * 1e6 / count;
}

int main(int argc, char **argv)
{
    int rank, processes, count = 1000, first = 0, last = 12;
    const char *name = argv[argc - 1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    for (int n = 1; n + 1 < argc; n++) {
        if (!strcmp(argv[n], "-iter"))
            count = atoi(argv[n + 1]);
        if (!strcmp(argv[n], "-msglog"))
            sscanf(argv[n + 1], "%d:%d", &first, &last);
    }
    int reduces = strstr(name, "educe") != NULL;
    char *out = calloc((size_t)processes, (size_t)1 << last);
    char *in = calloc((size_t)processes, (size_t)1 << last);
    if (rank == 0)
        printf("#----------------\n# Benchmarking %s \n# #processes = %d \n#----------------\n"
               "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n",
               name, processes);
    for (int power = first - 1; power <= last; power++) {
        int bytes = power < first ? 0 : 1 << power;
        if (bytes && reduces && bytes < 4)
            continue;
        double own = mean_us(name, out, in, bytes, count), least, most, sum;
        MPI_Reduce(&own, &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
        MPI_Reduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%13d %12d %12.2f %12.2f %12.2f\n", bytes, count, least, most, sum / processes);
    }
    if (rank == 0)
        printf("\n\n# All processes entering MPI_Finalize\n\n");
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
