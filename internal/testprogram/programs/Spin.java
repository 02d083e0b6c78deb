// Spins for ever, five calls deep, in methods that HotSpot compiled.
public class Spin {
    static volatile int sink;

    static int spin(int n) {
        int x = n;
        for (int i = 0; i < 50_000_000; i++)
            x = x * 31 + i;
        return x;
    }

    static int deep(int n) {
        return n == 0 ? spin(sink & 0) : deep(n - 1) + 1;
    }



    public static void main(String[] arguments) {
        sink = deep(5);
        System.out.println("ready");
        for (;;)
            sink = deep(5);
    }
}
